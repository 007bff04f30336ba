import { queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Records } from '../../lib/structured/read-records.ts';

/** The parser is loaded while the text is. */
const readerQuery = queryOptions({
  queryKey: ['structured-text', 'reader'],
  queryFn: () => import('../../lib/structured/read-records.ts'),
  staleTime: Infinity,
});

/** Reads the text of an item as a structured document. Null if it is prose, undefined while the text or the parser loads. */
export function useRecords(text: string | undefined): Records | undefined {
  const { data, isPending } = useQuery(readerQuery);
  return useMemo(
    () => (text === undefined || isPending ? undefined : (data?.readRecords(text) ?? null)),
    [text, isPending, data],
  );
}
