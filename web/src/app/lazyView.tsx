// Views in files of their own. A view that cannot be loaded never unloads the app: it is loaded when the server is back.
import { type FunctionComponent, use } from 'react'

/** The file of a view could not be loaded. */
export class ViewUnavailable extends Error {
  constructor(cause: unknown) {
    super('the view could not be loaded', { cause })
    this.name = 'ViewUnavailable'
  }
}

interface LoadableView {
  load: () => Promise<FunctionComponent>
  /** Forgets a failure, so that the next `load` tries again. */
  forget: () => void
}

const views: LoadableView[] = []

/** A view that is loaded when it is first shown, or by `preloadViews`. */
export function lazyRouteComponent<N extends string>(load: () => Promise<Record<N, FunctionComponent>>, name: N): FunctionComponent {
  let loaded: FunctionComponent | undefined
  let pending: Promise<FunctionComponent> | undefined
  let failed = false
  const view: LoadableView = {
    load: () =>
      (pending ??= load().then(
        (module) => (loaded = module[name]),
        (cause: unknown) => {
          failed = true
          throw new ViewUnavailable(cause)
        },
      )),
    forget: () => {
      if (failed) pending = undefined
      failed = false
    },
  }
  views.push(view)
  function View() {
    const Component = loaded ?? use(view.load())
    return <Component />
  }
  return View
}

/** Loads all views, so that they open at once, even while the server is away. */
export async function preloadViews(): Promise<void> {
  await Promise.allSettled(views.map((view) => view.load()))
  forgetFailures()
}

/** Makes views that failed to load available again. */
export function forgetFailures(): void {
  for (const view of views) view.forget()
}
