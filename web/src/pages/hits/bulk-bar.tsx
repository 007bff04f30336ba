import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type HitStatus, hitGroupQuery, type Hit, type hitsQuery } from '../../api/hits.ts';
import { countOf } from '../../lib/text.ts';
import { texts } from '../../texts/hits.ts';
import { Button } from '../../ui/button.tsx';
import { FloatingBar } from '../../ui/overlays/floating-bar.tsx';
import { OpenIncident } from './open-incident.tsx';
import { StatusBar } from './status-bar.tsx';
import type { Wave } from './use-set-status.ts';

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
  wave: Wave | undefined;
};

/** The wave that a list of hits shows, if it shows nothing else and leaves none of it out. */
export function useShownWave(filter: Parameters<typeof hitsQuery>[0]): { wave: Wave | undefined; isLoading: boolean } {
  const id = Object.values(filter).filter(Boolean).length === 1 ? filter.group : undefined;
  const { data: wave, isLoading } = useQuery({ ...hitGroupQuery(id ?? ''), enabled: id !== undefined });
  return { wave, isLoading };
}

/** The selection in a list of hits. All hits of a wave can be selected, also those that are not loaded. */
export function useSelectedHits(hits: readonly Hit[], shown: Wave | undefined, hasNextPage: boolean): SelectedHits {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isWholeWave, setIsWholeWave] = useState(false);
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
    count: isWholeWave && shown ? shown.hits : selected.length,
    more:
      shown && hasAllLoaded && hasNextPage && !isWholeWave
        ? { count: shown.hits, onSelect: () => setIsWholeWave(true) }
        : undefined,
    wave: shown && (isWholeWave || (hasAllLoaded && !hasNextPage)) ? shown : undefined,
  };
}
