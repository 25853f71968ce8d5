const PATHS = {
  runs: 'M2 12.5l3.5-4 3 2.5L14 4.5M2 14.5h12',
  compare: 'M2 12.5l4-5 3 2 5-6M2 7.5l4 2 3-1 5 4',
  experiments: 'M6 2.5h4M7 2.5v4L3 13.5h10L9 6.5v-4M5.2 10h5.6',
  leaderboard: 'M2.5 13.5v-5h3.5v5M6 13.5v-10h4v10M10 13.5v-7h3.5v7',
  memory: 'M4 2.5h8v11l-4-2.5-4 2.5z',
  data: 'M2.5 4c0-1 2.5-1.8 5.5-1.8s5.5.8 5.5 1.8-2.5 1.8-5.5 1.8S2.5 5 2.5 4zm0 0v8c0 1 2.5 1.8 5.5 1.8s5.5-.8 5.5-1.8V4M2.5 8c0 1 2.5 1.8 5.5 1.8s5.5-.8 5.5-1.8',
  profiles: 'M2 3.5h7M4 7h8M6.5 10.5h4M9 14h5',
  chat: 'M2.5 3h11v7.5H7L4 13.5v-3H2.5z',
  branch: 'M4.5 2.5v11M4.5 9.5c0-3 6-1.5 6-5M10.5 4.8v-2.3M9 4.5l1.5-2 1.5 2',
  plans: 'M3 3.2h3v3H3zM3 9.8h3v3H3zM8.5 4.7h5M8.5 11.3h5',
  settings: 'M3 4.5h6M12 4.5h1.5M3 11.5h1.5M8 11.5h5.5M10.5 3v3M6 10v3',
  plus: 'M8 3v10M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  left: 'M10 3L5 8l5 5',
  right: 'M6 3l5 5-5 5',
  up: 'M3.5 10L8 5.5 12.5 10',
  down: 'M3.5 6L8 10.5 12.5 6',
  stop: 'M4.5 4.5h7v7h-7z',
  play: 'M5 3.5l7.5 4.5L5 12.5z',
  search: 'M7 11.5a4.5 4.5 0 100-9 4.5 4.5 0 000 9zM10.5 10.5L14 14',
  warn: 'M8 2.5L14.5 13.5h-13zM8 6.5v3.2M8 11.4v.3',
  export: 'M8 2.5v7.5M5 7.2L8 10.2l3-3M3 13.5h10',
  link: 'M6.5 9.5l3-3M7 4.5l1.2-1.2a2.7 2.7 0 013.8 3.8L10.8 8.3M9 11.5l-1.2 1.2A2.7 2.7 0 014 8.9l1.2-1.2',
  moon: 'M12.8 9.6A5.3 5.3 0 016.4 3.2a5.3 5.3 0 106.4 6.4z',
  sun: 'M8 10.8a2.8 2.8 0 100-5.6 2.8 2.8 0 000 5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9',
  language: 'M2 4h7M5.5 2.5V4c0 3-1.5 5-3.5 6M4 6.5c.7 1.5 2.3 2.8 4 3.2M8 14l3-7 3 7M9 11.8h4',
  tool: 'M9.8 3a3.2 3.2 0 00-2.6 4.9L2.8 12.3l1 1 4.4-4.4A3.2 3.2 0 1013 4.4L11 6.2 9.6 4.8z',
  eye: 'M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8zM8 9.7a1.7 1.7 0 100-3.4 1.7 1.7 0 000 3.4z',
  send: 'M2.5 8L13.5 3l-3 10.5-3-4.5z',
} as const

export type IconName = keyof typeof PATHS

/** A decorative icon next to a label. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}

export function Logo() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#14171c" />
      <path d="M5 20.5l5.5-6 4.5 4 6-9 6 6.5" fill="none" stroke="#5b9dff" strokeWidth="2.6" strokeLinecap="round" strokeLinejoin="round" />
      <path d="M5 26h22" stroke="#7d8694" strokeWidth="2.2" strokeDasharray="2.2 3" strokeLinecap="round" />
    </svg>
  )
}
