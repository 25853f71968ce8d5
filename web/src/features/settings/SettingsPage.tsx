// Preferences, the state of the server, and access.
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { health } from '@/server/health'
import { access } from '@/server/queries'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { changeSettings, type PnlColors, type Settings, useSettings } from '@/shared/settings'
import { Pairs, Segments, Tag } from '@/shared/ui/parts'
import { Command, Failed, Loading, Note } from '@/shared/ui/states'
import { Doctor } from './Doctor'
import css from './settings.module.css'

export function SettingsPage() {
  const t = useText()
  return (
    <div className="page">
      <div className="page-head">
        <h1 className="grow">{t('nav.settings')}</h1>
      </div>
      <Preferences />
      <Server />
      <Doctor />
      <section className="panel" aria-label={t('settings.access')}>
        <div className="panel-head">
          <h2>{t('settings.access')}</h2>
        </div>
        <div className="panel-body stack">
          <p>{t('settings.access.what', { host: window.location.host })}</p>
          <Identity />
          <p className="second">{t('settings.access.how')}</p>
        </div>
      </section>
      <section className="panel" aria-label={t('settings.about')}>
        <div className="panel-head">
          <h2>{t('settings.about')}</h2>
        </div>
        <div className="panel-body stack">
          <p>{t('settings.about.paper')}</p>
          <p className="second">{t('settings.about.charts')}</p>
          <p>
            <a href="/docs/">{t('settings.api')}</a> · <a href="/openapi.json">OpenAPI</a>
          </p>
        </div>
      </section>
    </div>
  )
}

/** The current user and scope. */
function Identity() {
  const t = useText()
  const { data, error } = useQuery(access())
  if (error) return <Failed error={error} />
  if (!data?.required) return data === undefined ? null : <p>{t('settings.access.open')}</p>
  return (
    <form method="post" action="/logout" className="row wrap">
      <span>{t('settings.access.as', { name: data.name ?? '', scope: t(data.scope === 'operate' ? 'settings.access.operate' : 'settings.access.read') })}</span>
      <button type="submit" className="button small">
        {t('settings.access.leave')}
      </button>
    </form>
  )
}

function Preferences() {
  const t = useText()
  const settings = useSettings()
  const format = useFormat()
  return (
    <section className="panel" aria-label={t('settings.reading')}>
      <div className="panel-head">
        <h2>{t('settings.reading')}</h2>
        <span className="quiet">{t('settings.reading.kept')}</span>
      </div>
      <div className="panel-body stack sections">
        <Row name={t('settings.language')}>
          <Segments<Settings['language']>
            label={t('settings.language')}
            value={settings.language}
            onChange={(language) => changeSettings({ language })}
            choices={[
              { value: 'auto', label: t('settings.browser') },
              { value: 'en', label: 'English' },
              { value: 'zh', label: '中文' },
            ]}
          />
        </Row>
        <Row name={t('settings.theme')}>
          <Segments<Settings['theme']>
            label={t('settings.theme')}
            value={settings.theme}
            onChange={(theme) => changeSettings({ theme })}
            choices={[
              { value: 'auto', label: t('settings.system') },
              { value: 'light', label: t('settings.light') },
              { value: 'dark', label: t('settings.dark') },
            ]}
          />
        </Row>
        <Row name={t('settings.pnl')}>
          <Segments<PnlColors>
            label={t('settings.pnl')}
            value={settings.pnl}
            onChange={(pnl) => changeSettings({ pnl })}
            choices={[
              { value: 'auto', label: t('settings.pnl.auto') },
              { value: 'green-up', label: t('settings.pnl.green') },
              { value: 'red-up', label: t('settings.pnl.red') },
              { value: 'blue-up', label: t('settings.pnl.blue') },
            ]}
          />
          <span className="tnum">
            <span className="up">{format.change(0.0123)}</span> <span className="down">{format.change(-0.0123)}</span>
          </span>
        </Row>
        <Row name={t('settings.summary')}>
          <label className="check">
            <input type="checkbox" checked={settings.showActionSummary} onChange={(event) => changeSettings({ showActionSummary: event.target.checked })} />
            {t('settings.summary.show')}
          </label>
        </Row>
      </div>
    </section>
  )
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={`row wrap ${css.settingsRow}`}>
      <span className="label">{name}</span>
      {children}
    </div>
  )
}

function Server() {
  const t = useText()
  const query = useQuery(health())
  const data = query.data
  return (
    <section className="panel" aria-label={t('settings.server')}>
      <div className="panel-head">
        <h2>{t('settings.server')}</h2>
        {data && (data.status === 'ok' ? <span className="second">{t('settings.server.well')}</span> : <Tag kind="bad">{t('settings.server.failing')}</Tag>)}
      </div>
      {query.isPending && <Loading rows={3} />}
      {query.error && <Failed error={query.error} retry={() => void query.refetch()} />}
      {data && (
        <div className="panel-body stack">
          <Pairs
            rows={[
              [t('settings.version'), data.version],
              [t('settings.mode'), data.is_dev_mode ? <Tag kind="warn">{data.deployment_mode}</Tag> : data.deployment_mode],
            ]}
          />
          {data.problems.map((problem) => (
            <Note key={problem} kind="bad">
              {problem}
            </Note>
          ))}
          {data.warnings.map((warning) => (
            <Note key={warning} kind="warn">
              {warning}
            </Note>
          ))}
          <Command text="papertape config show" />
        </div>
      )}
    </section>
  )
}
