import { useQuery } from '@tanstack/react-query'
import { access } from '@/server/queries'

/** Whether the user may change anything. Until it is known, yes: the server decides in any case. */
export function useCanOperate(): boolean {
  const { data } = useQuery(access())
  return data?.scope !== 'read'
}
