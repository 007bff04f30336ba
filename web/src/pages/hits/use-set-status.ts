import { useMutation, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useRef } from 'react';
import { hitQuery, setGroupStatus, setHitStatus, type Hit, type HitStatus } from '../../api/hits.ts';
import { countOf } from '../../lib/text.ts';
import { texts } from '../../texts/hits.ts';
import { texts as common } from '../../texts/common.ts';
import { toasts } from '../../ui/toasts.tsx';

type Change = { hit: Hit; status: HitStatus };
/** `wave` is set if the hits are all those of a wave. */
type Batch = { changes: readonly Change[]; reason: string; wave?: string | undefined };
type Lists = InfiniteData<{ hits: Hit[]; nextCursor: string | null }>;

const atOnce = 6;

/** Changes the status of hits at once on the screen, then on the server, and undoes the latest change. */
export function useSetStatus() {
  const client = useQueryClient();
  const latest = useRef<Pick<Batch, 'changes' | 'wave'> | null>(null);
  const show = (changes: readonly Change[]): void => {
    const statuses = new Map(changes.map(({ hit, status }) => [hit.id, status]));
    client.setQueriesData<Lists>(
      { queryKey: ['hits', 'list'] },
      (lists) =>
        lists && {
          ...lists,
          pages: lists.pages.map((page) => ({
            ...page,
            hits: page.hits.map((hit) => ({ ...hit, status: statuses.get(hit.id) ?? hit.status })),
          })),
        },
    );
    for (const [id, status] of statuses)
      client.setQueryData(hitQuery(id).queryKey, (detail) => detail && { ...detail, status });
  };
  const { mutate } = useMutation({
    mutationFn: saveAll,
    onMutate: ({ changes }) => show(changes),
    onSuccess: (failures, { changes }) => {
      if (failures.length === 0) return;
      show(failures.map(({ change: { hit } }) => ({ hit, status: hit.status })));
      toasts.add({
        title: changes.length === 1 ? texts.notSaved : texts.someNotSaved(failures.length, changes.length),
        description: failures[0]!.message,
        isError: true,
      });
    },
    onSettled: (_data, _error, { changes }) => {
      for (const { hit } of changes) void client.invalidateQueries({ queryKey: hitQuery(hit.id).queryKey });
      void client.invalidateQueries({ queryKey: ['hits', 'groups'] });
      void client.invalidateQueries({ queryKey: ['overview'], exact: true });
    },
  });
  const undo = (): void => {
    if (!latest.current) return;
    const { changes, wave } = latest.current;
    latest.current = null;
    mutate({
      wave,
      changes: changes.map(({ hit, status }) => ({ hit: { ...hit, status }, status: hit.status })),
      reason: '',
    });
  };
  const setStatus = (hits: readonly Hit[], status: HitStatus, { reason, wave }: Omit<Batch, 'changes'>): void => {
    const changes = hits.filter((hit) => hit.status !== status).map((hit) => ({ hit, status }));
    if (changes.length === 0) return;
    const batch = { changes, reason, wave: changes.length === hits.length ? wave : undefined };
    latest.current = batch;
    mutate(batch);
    const title = status === 'open' ? texts.reopened : texts.saved(status);
    const description = changes.length === 1 ? changes[0]!.hit.headline : countOf(changes.length, 'hit');
    toasts.add({ title, description, action: { label: common.undo, run: undo } });
  };
  return { setStatus, undo };
}

type Failure = { change: Change; message: string };

/** Saves a wave whose hits get one status with one request, and other changes a few at a time. Returns those that failed. */
async function saveAll({ changes, reason, wave }: Batch): Promise<Failure[]> {
  const status = changes[0]!.status;
  if (wave !== undefined && changes.every((change) => change.status === status))
    return setGroupStatus(wave, status, reason).then(
      () => [],
      ({ message }: Error) => changes.map((change) => ({ change, message })),
    );
  const failures: Failure[] = [];
  const waiting = [...changes];
  const work = async (): Promise<void> => {
    for (let change = waiting.shift(); change; change = waiting.shift())
      try {
        await setHitStatus(change.hit.id, change.status, reason);
      } catch (error) {
        failures.push({ change, message: (error as Error).message });
      }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return failures;
}
