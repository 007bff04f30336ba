import { useMutation, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { hitQuery, setGroupStatus, setHitStatus, undoGroupStatus, type Hit, type HitStatus } from '../../api/hits.ts';
import type { RecordChange } from '../../api/problem.ts';
import { askAboutConflict, isStale } from '../../api/versions.ts';
import { countOf } from '../../lib/text.ts';
import { texts } from '../../texts/hits.ts';
import { texts as proof } from '../../texts/proof.ts';
import { texts as common } from '../../texts/common.ts';
import { toasts } from '../../ui/overlays/toasts.tsx';

type Change = { hit: Hit; status: HitStatus };
/** A wave as a whole, with the number of its hits, of which only some may be loaded. */
export type Wave = { id: string; hits: number; revision: number };
/** `undoes` is the change of the wave to undo. */
type Batch = {
  changes: readonly Change[];
  status: HitStatus;
  reason: string;
  wave?: Wave | undefined;
  undoes?: string;
};
/**
 * The failed changes, with the first error, and those of hits that others changed meanwhile, if the user keeps what others did. `change` identifies the
 * change of a wave.
 */
type Saved = { failed: readonly Change[]; kept?: readonly Change[]; error?: Error; change?: string | undefined };
/** The revisions of hits after changes from here, which the list may not have yet. */
type Revisions = Map<string, number>;
type Lists = InfiniteData<{ hits: Hit[]; nextCursor: string | null }>;

const atOnce = 6;
/** Hits of one detection, for which exceptions may be proposed. */
export type AlikeHits = { detectionId: string; hitIds: string[] };
const alikeMax = 100;

/** Returns the changed hits of the detection that has most of them. */
function listAlike(changes: readonly Change[]): AlikeHits | undefined {
  const byDetection = [...Map.groupBy(changes, ({ hit }) => hit.detectionId)];
  const [most] = byDetection.toSorted(([, a], [, b]) => b.length - a.length);
  return most && { detectionId: most[0], hitIds: most[1].slice(0, alikeMax).map(({ hit }) => hit.id) };
}

/** Changes the status of hits at once on the screen, then on the server, and undoes the latest change. */
export function useSetStatus() {
  const client = useQueryClient();
  const [similar, setSimilar] = useState<AlikeHits | null>(null);
  const latest = useRef<{ batch: Batch; saved: Promise<Saved> } | null>(null);
  const revisions = useRef<Revisions>(new Map());
  /** Changes are saved one after the other, so that each knows the revisions after the previous one. */
  const queue = useRef<Promise<unknown>>(Promise.resolve());
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
  const { mutateAsync } = useMutation({
    mutationFn: (batch: Batch) => {
      const saved = queue.current.then(() => save(batch, revisions.current));
      queue.current = saved;
      return saved;
    },
    onMutate: ({ changes }) => show(changes),
    onSuccess: ({ failed, kept = [], error }, { changes, wave }) => {
      show(kept.map(({ hit }) => ({ hit, status: hit.status })));
      if (!error) return;
      show(failed.map(({ hit }) => ({ hit, status: hit.status })));
      toasts.add({
        title: wave || changes.length === 1 ? texts.notSaved : texts.someNotSaved(failed.length, changes.length),
        description: error.message,
        isError: true,
      });
    },
    onSettled: (_data, _error, { changes, wave }) => {
      for (const { hit } of changes) void client.invalidateQueries({ queryKey: hitQuery(hit.id).queryKey });
      // A change of a wave also changes hits that are not on the screen.
      if (wave) void client.invalidateQueries({ queryKey: ['hits', 'list'] });
      void client.invalidateQueries({ queryKey: ['hits', 'groups'] });
      void client.invalidateQueries({ queryKey: ['overview'], exact: true });
    },
  });
  const undo = async (): Promise<void> => {
    if (!latest.current) return;
    const { batch, saved } = latest.current;
    latest.current = null;
    const { change } = await saved;
    if (batch.wave && change === undefined) return;
    const changes = batch.changes.map(({ hit, status }) => ({ hit: { ...hit, status }, status: hit.status }));
    await mutateAsync({ ...batch, changes, reason: '', ...(change !== undefined && { undoes: change }) });
  };
  /** Returns whether all changes were saved. */
  const setStatus = (
    hits: readonly Hit[],
    status: HitStatus,
    { reason, wave }: { reason: string; wave?: Wave | undefined },
  ): Promise<boolean> => {
    const changes = hits.filter((hit) => hit.status !== status).map((hit) => ({ hit, status }));
    if (changes.length === 0 && !wave) return Promise.resolve(true);
    const batch = { changes, status, reason, wave };
    const saved = mutateAsync(batch);
    latest.current = { batch, saved };
    const title = status === 'open' ? texts.reopened : texts.saved(status);
    const count = wave ? wave.hits : changes.length;
    const description = count === 1 ? changes[0]!.hit.headline : countOf(count, 'hit');
    const hitIds = listAlike(changes);
    const next = status === 'false_positive' && hitIds && { label: proof.similar.open, run: () => setSimilar(hitIds) };
    toasts.add({ title, description, action: { label: common.undo, run: () => void undo() }, next: next || undefined });
    return saved.then(({ failed, kept = [] }) => failed.length + kept.length === 0);
  };
  return { setStatus, undo: () => void undo(), similar, closeSimilar: () => setSimilar(null) };
}

/** Saves or undoes a wave with one request, and other changes a few at a time. Never rejects. */
async function save({ changes, status, reason, wave, undoes }: Batch, revisions: Revisions): Promise<Saved> {
  if (wave)
    try {
      const { change } = await (undoes === undefined
        ? setGroupStatus(wave, { status, reason })
        : undoGroupStatus(wave.id, undoes));
      return { failed: [], change: change?.id };
    } catch (error) {
      return isStale(error) ? { failed: [], kept: changes } : { failed: changes, error: error as Error };
    }
  return saveEach(changes, reason, revisions);
}

/** Saves changes of hits. Asks once about all of them that others changed meanwhile. */
async function saveEach(changes: readonly Change[], reason: string, revisions: Revisions): Promise<Saved> {
  const failed: Change[] = [];
  const errors: Error[] = [];
  const stale: { change: Change; changes: readonly RecordChange[] }[] = [];
  const waiting = [...changes];
  const work = async (): Promise<void> => {
    for (let change = waiting.shift(); change; change = waiting.shift()) {
      const { hit, status } = change;
      const revision = Math.max(hit.revision, revisions.get(hit.id) ?? 0);
      try {
        const saved = await setHitStatus({ id: hit.id, revision }, { status, reason });
        revisions.set(hit.id, saved.revision);
      } catch (error) {
        if (isStale(error)) {
          stale.push({ change, changes: error.stale.changes });
          revisions.set(hit.id, Number(error.stale.current));
        } else {
          failed.push(change);
          errors.push(error as Error);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const rest = stale.map(({ change }) => change);
  const isAgain = stale.length > 0 && (await askAboutConflict(stale.flatMap((one) => one.changes)));
  const again = isAgain ? await saveEach(rest, reason, revisions) : { failed: [], kept: rest };
  const error = errors[0] ?? again.error;
  return { failed: [...failed, ...again.failed], kept: again.kept ?? [], ...(error && { error }) };
}
