import { useMutation, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useRef } from 'react';
import { hitQuery, setHitStatus, type Hit, type HitStatus } from '../../api/hits.ts';
import { texts } from '../../texts/hits.ts';
import { texts as common } from '../../texts/common.ts';
import { toasts } from '../../ui/toasts.tsx';

type Change = { hit: Hit; status: HitStatus; reason: string };
type Lists = InfiniteData<{ hits: Hit[]; nextCursor: string | null }>;

/** Changes the status of hits at once on the screen, then on the server, and undoes the latest change. */
export function useSetStatus() {
  const client = useQueryClient();
  const latest = useRef<{ hit: Hit; from: HitStatus } | null>(null);
  const show = (id: string, status: HitStatus): void => {
    client.setQueriesData<Lists>(
      { queryKey: ['hits', 'list'] },
      (lists) =>
        lists && {
          ...lists,
          pages: lists.pages.map((page) => ({
            ...page,
            hits: page.hits.map((hit) => (hit.id === id ? { ...hit, status } : hit)),
          })),
        },
    );
    client.setQueryData(hitQuery(id).queryKey, (detail) => detail && { ...detail, status });
  };
  const { mutate } = useMutation({
    mutationFn: ({ hit, status, reason }: Change) => setHitStatus(hit.id, status, reason),
    onMutate: ({ hit, status }) => show(hit.id, status),
    onError: (error, { hit }) => {
      show(hit.id, hit.status);
      toasts.add({ title: texts.notSaved, description: error.message, isError: true });
    },
    onSettled: (_data, _error, { hit }) => client.invalidateQueries({ queryKey: hitQuery(hit.id).queryKey }),
  });
  const undo = (): void => {
    if (!latest.current) return;
    const { hit, from } = latest.current;
    latest.current = null;
    mutate({ hit, status: from, reason: '' });
  };
  const setStatus = (hit: Hit, status: HitStatus, reason: string): void => {
    latest.current = { hit, from: hit.status };
    mutate({ hit, status, reason });
    const title = status === 'open' ? texts.reopened : texts.saved(status);
    toasts.add({ title, description: hit.headline, action: { label: common.undo, run: undo } });
  };
  return { setStatus, undo };
}
