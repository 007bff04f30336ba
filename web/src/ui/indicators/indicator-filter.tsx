import { countOf, formatNumber } from '../../lib/text.ts';
import { texts } from '../../texts/indicators.ts';
import { FilterSelect } from '../forms/filter-select.tsx';
import { statuses, type IndicatorFilterState, type IndicatorRow } from './use-indicator-filter.ts';

type Props = {
  rows: readonly IndicatorRow[];
  found: number;
  filter: IndicatorFilterState;
  onChange: (filter: IndicatorFilterState) => void;
};

/** Narrows a long list of indicators by words of the value, status and type. */
export function IndicatorFilter({ rows, found, filter, onChange }: Props) {
  const count = (isCounted: (row: IndicatorRow) => boolean): string => formatNumber(rows.filter(isCounted).length);
  const types = [...new Set(rows.map(({ type }) => type))].toSorted();
  return (
    <div className="flex flex-wrap items-center gap-2">
      <input
        type="search"
        value={filter.words}
        onChange={(event) => onChange({ ...filter, words: event.target.value })}
        placeholder={texts.filter}
        aria-label={texts.filter}
        className="h-7 w-32 grow rounded-control border bg-surface px-2 placeholder:text-faint"
      />
      <FilterSelect
        label={texts.status}
        value={filter.status}
        options={statuses
          .filter((value) => rows.some(({ status }) => status === value))
          .map((value) => ({ value, label: texts.statuses[value], count: count(({ status }) => status === value) }))}
        onChange={(status) => onChange({ ...filter, status })}
      />
      {types.length > 1 && (
        <FilterSelect
          label={texts.type}
          value={filter.type}
          options={types.map((value) => ({
            value,
            label: value.replaceAll('_', ' '),
            count: count(({ type }) => type === value),
          }))}
          onChange={(type) => onChange({ ...filter, type })}
        />
      )}
      <span role="status" className="tabular text-12 text-muted empty:hidden">
        {found < rows.length && countOf(found, 'match', 'matches')}
      </span>
    </div>
  );
}
