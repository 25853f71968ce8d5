// Inline styles may set CSS variables.
import 'react'

declare module 'react' {
  interface CSSProperties {
    [variable: `--${string}`]: string | undefined
  }
}
