import { useText } from '@/shared/i18n'
import { Command } from '@/shared/ui/states'

/** What looks at the whole installation: a command, since it reads what no page may. */
export function Doctor() {
  const t = useText()
  return (
    <section className="panel" aria-label={t('settings.doctor')}>
      <div className="panel-head">
        <h2>{t('settings.doctor')}</h2>
      </div>
      <div className="panel-body stack">
        <p className="second">{t('settings.doctor.what')}</p>
        <Command text="papertape doctor" />
      </div>
    </section>
  )
}
