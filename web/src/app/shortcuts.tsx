// Keyboard shortcuts: `g` and a letter opens a view, `n` starts a run, `?` lists all shortcuts.
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useCanOperate } from '@/shared/access'
import { type TextKey, useText } from '@/shared/i18n'
import { isTyping } from '@/shared/keys'
import { changeSettings } from '@/shared/settings'
import { Dialog } from '@/shared/ui/dialog'

const VIEWS: Record<string, { to: string; text: TextKey }> = {
  r: { to: '/app/runs', text: 'nav.runs' },
  v: { to: '/app/compare', text: 'nav.compare' },
  e: { to: '/app/experiments', text: 'nav.experiments' },
  b: { to: '/app/leaderboard', text: 'nav.leaderboard' },
  m: { to: '/app/memory', text: 'nav.memory' },
  d: { to: '/app/data', text: 'nav.data' },
  p: { to: '/app/profiles', text: 'nav.profiles' },
  c: { to: '/app/chat', text: 'nav.chat' },
  l: { to: '/app/plans', text: 'nav.plans' },
  s: { to: '/app/settings', text: 'nav.settings' },
}

/** The maximum time between the two keys of a sequence. */
const SEQUENCE_MS = 1200

export function useShortcuts(showKeys: () => void): void {
  const navigate = useNavigate()
  const canOperate = useCanOperate()
  const prefixAt = useRef(0)
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (isTyping(event) || document.querySelector('dialog[open]')) return
      const inSequence = performance.now() - prefixAt.current < SEQUENCE_MS
      prefixAt.current = 0
      const target = inSequence ? VIEWS[event.key] : undefined
      if (target) {
        event.preventDefault()
        void navigate({ to: target.to })
      } else if (event.key === 'g') {
        prefixAt.current = performance.now()
      } else if (event.key === 'n' && canOperate) {
        event.preventDefault()
        void navigate({ to: '/app/runs', search: { new: true } })
      } else if (event.key === 't') {
        const dark = document.documentElement.dataset.theme === 'dark'
        changeSettings({ theme: dark ? 'light' : 'dark' })
      } else if (event.key === '?') {
        showKeys()
      }
    }
    window.addEventListener('keydown', pressed)
    return () => window.removeEventListener('keydown', pressed)
  }, [navigate, showKeys, canOperate])
}

export function Keys({ onClose }: { onClose: () => void }) {
  const t = useText()
  const rows: [string[], string][] = [
    ...Object.entries(VIEWS).map(([key, { text }]): [string[], string] => [['g', key], t(text)]),
    [['Ctrl', 'k'], t('palette.open')],
    [['n'], t('keys.new')],
    [['['], t('keys.previous')],
    [[']'], t('keys.next')],
    [['j', 'k'], t('keys.nodes')],
    [['/'], t('keys.search')],
    [['t'], t('keys.theme')],
    [['?'], t('keys.title')],
  ]
  return (
    <Dialog className="modal" label={t('keys.title')} onClose={onClose}>
      <div className="stack">
        <div className="row">
          <h2 className="grow">{t('keys.title')}</h2>
          <button type="button" className="button small" onClick={onClose}>
            {t('action.close')}
          </button>
        </div>
        <table className="grid-table">
          <tbody>
            {rows.map(([keys, text]) => (
              <tr key={keys.join('')}>
                <td className="nowrap">
                  {keys.map((key) => (
                    <span key={key}>
                      <kbd>{key}</kbd>{' '}
                    </span>
                  ))}
                </td>
                <td>{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Dialog>
  )
}

