import type { components } from '@/server/schema'

/** Completed and failed model-days. The numbers are next to it. */
export function ProgressBar({ progress: { total_model_days: total, completed, skipped, failed } }: { progress: components['schemas']['Progress'] }) {
  const share = (count: number) => `${total === 0 ? 0 : (count / total) * 100}%`
  return (
    <span className="progress" aria-hidden="true">
      <span style={{ width: share(completed + skipped) }} />
      <span className="bad" style={{ width: share(failed) }} />
    </span>
  )
}
