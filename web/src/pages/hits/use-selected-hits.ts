import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { hitGroupQuery, type Hit, type hitsQuery } from '../../api/hits.ts';

export type SelectedHits = {
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
