import type { InfiniteData, InfiniteQueryObserverResult } from '@tanstack/react-query'

/** The part of a list that the server has and the page has not. */
export interface Rest<R> {
  hasMore: boolean
  isLoading: boolean
  loadMore: () => void
  /** Loads all pages and returns all rows. */
  loadAll: () => Promise<R[]>
}

/** The rest of a list that is loaded page by page. */
export function restOf<P, R>(query: InfiniteQueryObserverResult<InfiniteData<P, unknown>>, rowsOf: (page: P) => R[]): Rest<R> {
  return {
    hasMore: query.hasNextPage,
    isLoading: query.isFetchingNextPage,
    loadMore: () => {
      if (query.hasNextPage) void query.fetchNextPage()
    },
    loadAll: async () => {
      let loaded = query
      while (loaded.hasNextPage) loaded = await loaded.fetchNextPage({ throwOnError: true })
      return loaded.data?.pages.flatMap(rowsOf) ?? []
    },
  }
}
