/** Does what is typed belong to a field, or to the browser? */
export function isTyping(event: KeyboardEvent): boolean {
  const on = event.target
  if (event.ctrlKey || event.metaKey || event.altKey) return true
  return on instanceof HTMLElement && (on.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(on.tagName))
}
