// A choice of one of a few words.
import type { SelectHTMLAttributes } from 'react'
import { oneOf } from '../oneOf'

interface Props<W extends string> extends Omit<SelectHTMLAttributes<HTMLSelectElement>, 'value' | 'onChange'> {
  value: W
  choices: readonly { value: W; label: string }[]
  onChange: (value: W) => void
}

export function Select<W extends string>({ value, choices, onChange, ...attributes }: Props<W>) {
  const words = choices.map((choice) => choice.value)
  return (
    <select className="select" {...attributes} value={value} onChange={(event) => onChange(oneOf(event.target.value, words) ?? value)}>
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
    </select>
  )
}
