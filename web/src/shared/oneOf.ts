/** The word, if it is one of these. */
export function oneOf<W extends string>(value: unknown, words: readonly W[]): W | undefined {
  return words.find((word) => word === value)
}
