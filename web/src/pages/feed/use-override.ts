import { useMutation, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useRef } from 'react';
import { itemQuery, putOverride, type FeedItem, type Relevance } from '../../api/feed.ts';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/feed.ts';
import { toasts } from '../../ui/overlays/toasts.tsx';

/** A person's verdict. Null removes it, so that the profile and the agents decide again. */
export type Judgment = 'relevant' | 'irrelevant' | null;
type Change = { item: FeedItem; verdict: Judgment; reason: string };
type Overrides = FeedItem['tenantOverrides'];
type Revision = string | undefined;
type Lists = InfiniteData<{ items: FeedItem[] }>;

/** Changes an item's relevance at once on the screen, then on the server, and undoes the latest change. */
export function useOverride() {
  const client = useQueryClient();
  const latest = useRef<Change | null>(null);
  /** The revisions of items that changes from here replaced, which lists and the latest change may still have, and the one after them. */
  const saved = useRef(new Map<string, { replaced: ReadonlySet<Revision>; revision: Revision }>());
  const show = (id: string, tenantOverrides: Overrides): void => {
    client.setQueriesData<Lists>(
      { queryKey: ['feed', 'items'] },
      (lists) =>
        lists && {
          ...lists,
          pages: lists.pages.map((page) => ({
            ...page,
            items: page.items.map((item) => (item.id === id ? { ...item, tenantOverrides } : item)),
          })),
        },
    );
    client.setQueryData(itemQuery(id).queryKey, (detail) => detail && { ...detail, tenantOverrides });
  };
  const { mutateAsync } = useMutation({
    mutationFn: async ({ item: { id, tenantOverrides }, verdict, reason }: Change) => {
      const seen = tenantOverrides?.revision;
      const known = saved.current.get(id);
      // A change from here is no conflict with one from here before.
      const revision = known?.replaced.has(seen) ? known.revision : seen;
      const relevance = verdict && { verdict, ...(reason !== '' && { reason }) };
      const stored = await putOverride({ id, revision }, { relevance });
      const replaced = new Set([...(known?.replaced ?? []), seen, revision]);
      saved.current.set(id, { replaced, revision: stored.tenantOverrides?.revision });
      return stored;
    },
    // One after the other, so that each knows the revision after the previous one.
    scope: { id: 'overrides' },
    onMutate: ({ item, verdict, reason }) => show(item.id, withRelevance(item.tenantOverrides, verdict, reason)),
    onSuccess: ({ tenantOverrides }, { item }) => show(item.id, tenantOverrides),
    onError: (error, { item }) => {
      show(item.id, item.tenantOverrides);
      toasts.add({ title: texts.notSaved, description: error.message, isError: true });
    },
  });
  /** Returns whether the change was saved. */
  const save = (change: Change): Promise<boolean> =>
    mutateAsync(change).then(
      () => true,
      () => false,
    );
  const undo = (): void => {
    if (!latest.current) return;
    const change = latest.current;
    latest.current = null;
    void save(change);
  };
  const judge = (item: FeedItem, verdict: Judgment, reason: string): Promise<boolean> => {
    latest.current = { item, ...readJudgment(item.tenantOverrides?.relevance) };
    const saved = save({ item, verdict, reason });
    const title = verdict === null ? texts.cleared : texts.overridden[verdict];
    toasts.add({ title, description: item.event.title, action: { label: common.undo, run: undo } });
    return saved;
  };
  return { judge, undo };
}

/** Returns the decision of a person about an item, which undoing restores. */
function readJudgment(relevance: Relevance | undefined): Pick<Change, 'verdict' | 'reason'> {
  if (relevance?.judgedBy !== 'person' || relevance.verdict === 'exposed') return { verdict: null, reason: '' };
  return { verdict: relevance.verdict, reason: relevance.reasons[0]?.matched ?? '' };
}

function withRelevance(overrides: Overrides, verdict: Judgment, reason: string): Overrides {
  const at = new Date().toISOString();
  const { relevance: _, ...others } = overrides ?? { updatedAt: at, revision: '0' };
  if (verdict === null) return others;
  const reasons = reason === '' ? [] : [{ kind: 'person', matched: reason, weight: 1 }];
  const score = verdict === 'relevant' ? 1 : 0;
  return { ...others, relevance: { verdict, score, reasons, judgedBy: 'person', judgedAt: at } };
}
