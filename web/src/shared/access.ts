import { useQuery } from '@tanstack/react-query'
import { access } from '@/server/queries'

/** Whether the user may only read, as far as is known. */
export function useIsReadOnly(): boolean {
  return useQuery(access()).data?.scope === 'read'
}

/** Whether the user may change anything. Not until it is known; if the server does not say, it decides on each request. */
export function useCanOperate(): boolean {
  const { data, isPending } = useQuery(access())
  return !isPending && data?.scope !== 'read'
}
