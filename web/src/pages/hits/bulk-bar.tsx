import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type HitStatus, hitGroupQuery, type Hit, type hitsQuery } from '../../api/hits.ts';
import { countOf } from '../../lib/text.ts';
import { texts } from '../../texts/hits.ts';
import { Button } from '../../ui/button.tsx';
import { FloatingBar } from '../../ui/overlays/floating-bar.tsx';
import { OpenIncident } from './open-incident.tsx';
import { StatusBar } from './status-bar.tsx';

type Props = {
  count: number;
  /** The selected hits, if all of them are loaded. */
  hitIds: string[] | undefined;
  /** Set if more hits can be selected than are loaded. */
  more: { count: number; onSelect: () => void } | undefined;
  pending: HitStatus | null;
  onChoose: (status: HitStatus | null) => void;
  onSave: (status: HitStatus, reason: string) => Promise<boolean>;
  onClear: () => void;
};

/** The decisions about all selected hits. */
export function BulkBar({ count, hitIds, more, pending, onChoose, onSave, onClear }: Props) {
  return (
    <FloatingBar label={texts.bulk.selected(countOf(count, 'hit'))}>
      {more && !pending && (
        <Button kind="quiet" onClick={more.onSelect}>
          {texts.bulk.all(countOf(more.count, 'hit'))}
        </Button>
      )}
      <StatusBar subject="hits" current={undefined} pending={pending} onChoose={onChoose} onSave={onSave} />
      {hitIds && !pending && <OpenIncident hitIds={hitIds} />}
      {!pending && (
        <Button kind="quiet" onClick={onClear}>
          {texts.bulk.clear}
        </Button>
      )}
    </FloatingBar>
  );
}

type SelectedHits = {
  /** IDs, also of hits that the list no longer has. */
  chosen: ReadonlySet<string>;
  choose: (ids: ReadonlySet<string>) => void;
  toggle: (id: string) => void;
  /** The loaded hits that are selected, and the number of all selected hits. */
  selected: Hit[];
  count: number;
  /** Selects the rest of the wave, if all loaded hits of a longer one are selected. */
  more: { count: number; onSelect: () => void } | undefined;
  /** The wave, if all of its hits are selected. */
  wave: { id: string; hits: number; revision: number } | undefined;
};

/** The selection in a list of hits. All hits of a wave can be selected, also those that are not loaded. */
export function useSelectedHits(
  hits: readonly Hit[],
  filter: Parameters<typeof hitsQuery>[0],
  hasNextPage: boolean,
): SelectedHits {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isWholeWave, setIsWholeWave] = useState(false);
  const waveId = Object.values(filter).filter(Boolean).length === 1 ? filter.group : undefined;
  const { data: wave } = useQuery({ ...hitGroupQuery(waveId ?? ''), enabled: waveId !== undefined });
  const selected = hits.filter(({ id }) => chosen.has(id));
  const hasAllLoaded = selected.length > 0 && selected.length === hits.length;
  const choose = (ids: ReadonlySet<string>): void => {
    setChosen(ids);
    setIsWholeWave(false);
  };
  return {
    chosen,
    choose,
    toggle: (id) => choose(new Set(chosen.has(id) ? [...chosen].filter((other) => other !== id) : [...chosen, id])),
    selected,
    count: isWholeWave && wave ? wave.hits : selected.length,
    more:
      wave && hasAllLoaded && hasNextPage && !isWholeWave
        ? { count: wave.hits, onSelect: () => setIsWholeWave(true) }
        : undefined,
    wave: wave && (isWholeWave || (hasAllLoaded && !hasNextPage)) ? wave : undefined,
  };
}
