import { useInfiniteQuery, useQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { ChevronDown } from 'lucide-react';
import { useRef } from 'react';
import { personsQuery } from '../../api/access.ts';
import { type BulkChange, type IncidentResolution, changeIncidents, type Incident } from '../../api/incidents.ts';
import { sessionQuery } from '../../api/session.ts';
import { countOf } from '../../lib/text.ts';
import { texts as common } from '../../texts/hits.ts';
import { texts } from '../../texts/incidents.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { MenuButton } from '../../ui/overlays/menu-button.tsx';
import { FloatingBar } from '../../ui/overlays/floating-bar.tsx';
import { askAboutConflict } from '../../api/versions.ts';
import { texts as actions } from '../../texts/common.ts';
import { toasts } from '../../ui/overlays/toasts.tsx';

type Props = {
  count: number;
  isPending: boolean;
  onChange: (decision: Omit<BulkChange, 'id'>) => void;
  onClear: () => void;
};

const resolutions = Object.entries(texts.resolutions) as [IncidentResolution, string][];

/** The decisions about all selected incidents. */
export function BulkBar({ count, isPending, onChange, onClear }: Props) {
  const { data: session } = useQuery(sessionQuery);
  const { data: persons } = useInfiniteQuery(personsQuery);
  const people = persons?.pages.flatMap((page) => page.persons).filter(({ disabled }) => !disabled) ?? [];
  const me = session?.subject ?? null;
  const menu = (label: string, entries: React.ComponentProps<typeof MenuButton>['entries']) => (
    <MenuButton side="top" disabled={isPending} className={buttonClass('secondary')} entries={entries}>
      {label}
      <ChevronDown className="size-3.5 text-faint" aria-hidden />
    </MenuButton>
  );
  return (
    <FloatingBar label={common.bulk.selected(countOf(count, 'incident'))}>
      {menu(texts.filters.owner, [
        ...(me === null
          ? []
          : [{ kind: 'action' as const, label: texts.take, onSelect: () => onChange({ owner: me }) }]),
        { kind: 'action', label: texts.release, onSelect: () => onChange({ owner: null }) },
        ...people.map(({ name }) => ({
          kind: 'action' as const,
          label: name,
          onSelect: () => onChange({ owner: name }),
        })),
      ])}
      <Button disabled={isPending} onClick={() => onChange({ state: 'in_progress' })}>
        {texts.start}
      </Button>
      {menu(
        texts.close,
        resolutions.map(([resolution, label]) => ({
          kind: 'action',
          label,
          onSelect: () => onChange({ state: 'closed', resolution }),
        })),
      )}
      <Button disabled={isPending} onClick={() => onChange({ state: 'open' })}>
        {texts.reopen}
      </Button>
      {(session?.personId ?? null) !== null &&
        menu(texts.watch, [
          { kind: 'action', label: texts.watch, onSelect: () => onChange({ watching: true }) },
          { kind: 'action', label: texts.unwatch, onSelect: () => onChange({ watching: false }) },
        ])}
      <Button kind="quiet" onClick={onClear}>
        {common.bulk.clear}
      </Button>
    </FloatingBar>
  );
}

type Decision = Omit<BulkChange, 'id' | 'expectedRevision'>;
type Result = Awaited<ReturnType<typeof changeIncidents>>[number];

/** Returns what makes an incident again what it was before a decision. */
const toUndo = ({ state, resolution, owner }: Incident, decision: Decision): Decision => ({
  ...(decision.state !== undefined && { state, ...(resolution !== null && { resolution }) }),
  ...(decision.owner !== undefined && { owner }),
});

/** Changes incidents. Asks once about all of them that others changed meanwhile. */
async function save(changes: readonly BulkChange[]): Promise<Result[]> {
  const results = await changeIncidents([...changes]);
  const stale = results.flatMap(({ stale: problem }, index) => (problem ? [{ problem, change: changes[index]! }] : []));
  if (stale.length === 0 || !(await askAboutConflict(stale.flatMap(({ problem }) => problem.changes)))) return results;
  const again = stale.map(({ problem, change }) => ({ ...change, expectedRevision: Number(problem.current) }));
  return [...results.filter((result) => !result.stale), ...(await save(again))];
}

/** Changes several incidents with one request, and undoes the latest change of their owner or state. */
export function useBulkChange() {
  const client = useQueryClient();
  const undoable = useRef<BulkChange[]>([]);
  const { mutateAsync, isPending } = useMutation({
    mutationFn: save,
    onSuccess: (results) => {
      const failed = results.filter(({ outcome, stale }) => outcome === 'failed' && !stale);
      if (failed.length > 0)
        toasts.add({
          title: texts.someNotSaved(failed.length, results.length),
          description: failed[0]!.detail ?? '',
          isError: true,
        });
    },
    onError: ({ message }) => toasts.add({ title: texts.notChanged, description: message, isError: true }),
    onSettled: () => {
      for (const part of ['incidents', 'hits']) void client.invalidateQueries({ queryKey: [part] });
    },
  });
  const undo = (): void => {
    const changes = undoable.current;
    undoable.current = [];
    if (changes.length > 0) mutateAsync(changes).catch(() => undefined);
  };
  const change = async (incidents: readonly Incident[], decision: Decision): Promise<void> => {
    const before = new Map(incidents.map((incident) => [incident.id, incident]));
    const changes = incidents.map(({ id, revision }) => ({
      id,
      ...decision,
      // Watching changes nothing that a colleague could have changed.
      ...(decision.watching === undefined && { expectedRevision: revision }),
    }));
    const results = await mutateAsync(changes).catch(() => []);
    const changed = results.flatMap(({ incident }) => incident ?? []);
    if (changed.length === 0) return;
    const isUndoable = decision.watching === undefined;
    if (isUndoable)
      undoable.current = changed.map(({ id, revision }) => ({
        id,
        expectedRevision: revision,
        ...toUndo(before.get(id)!, decision),
      }));
    toasts.add({
      title: texts.changed,
      description: countOf(changed.length, 'incident'),
      ...(isUndoable && { action: { label: actions.undo, run: undo } }),
    });
  };
  return { change, undo, isPending };
}
