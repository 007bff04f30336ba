import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { ChevronDown } from 'lucide-react';
import { personsQuery } from '../../api/access.ts';
import type { BulkChange, IncidentResolution } from '../../api/incidents.ts';
import { sessionQuery } from '../../api/session.ts';
import { countOf } from '../../lib/text.ts';
import { texts as common } from '../../texts/hits.ts';
import { texts } from '../../texts/incidents.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { MenuButton } from '../../ui/overlays/menu-button.tsx';
import { FloatingBar } from '../../ui/overlays/floating-bar.tsx';

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
