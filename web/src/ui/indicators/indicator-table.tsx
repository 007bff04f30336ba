import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { copyText } from '../../lib/copy-text.ts';
import { downloadCsv } from '../../lib/download.ts';
import { classes, countOf, formatNumber } from '../../lib/text.ts';
import { texts } from '../../texts/indicators.ts';
import { Button } from '../button.tsx';
import { FilterSelect } from '../forms/filter-select.tsx';
import { ShowMore } from '../lists/show-more.tsx';
import { toasts } from '../overlays/toasts.tsx';
import { Section } from '../section.tsx';
import { Value } from '../value.tsx';
import { useIndicatorFilter, type IndicatorRow, statuses, type IndicatorFilterState } from './use-indicator-filter.ts';

const shownFirst = 25;
const shownMore = 200;
/** Shorter lists need no filter. */
const filteredFrom = 10;

type Props = {
  rows: readonly IndicatorRow[];
  /** The name of the downloaded file, without its ending. */
  fileName: string;
  /** Text above the table. */
  note?: string | undefined;
  /** Renders the last cell of a row. */
  renderEnd?: (row: IndicatorRow) => React.ReactNode;
};

const columns = ['value', 'type', 'status', 'confidence'];

async function copyValues(rows: readonly IndicatorRow[]): Promise<void> {
  const isCopied = await copyText(rows.map(({ normalizedValue }) => normalizedValue).join('\n'));
  toasts.add(isCopied ? { title: texts.copied(rows.length) } : { title: texts.notCopied, isError: true });
}

const toFields = ({ normalizedValue, type, status, confidence }: IndicatorRow): string[] => [
  normalizedValue,
  type,
  status,
  String(confidence ?? ''),
];

/** The indicators of an item or an entity, the active ones first. They can be filtered, copied and downloaded, and each leads to everything known of its value. */
export function IndicatorTable({ rows, fileName, note, renderEnd }: Props) {
  const [limit, setLimit] = useState(shownFirst);
  const { filter, setFilter, found } = useIndicatorFilter(rows);
  if (rows.length === 0) return null;
  return (
    <Section
      title={texts.title}
      count={rows.length}
      actions={
        <>
          <Button kind="quiet" aria-label={texts.copyAll(found.length)} onClick={() => void copyValues(found)}>
            {texts.copy}
          </Button>
          <Button
            kind="quiet"
            aria-label={texts.downloadAll(found.length)}
            onClick={() => downloadCsv(`${fileName}.csv`, [columns, ...found.map(toFields)])}
          >
            {texts.download}
          </Button>
        </>
      }
    >
      {note && <p className="text-12 text-muted">{note}</p>}
      {rows.length >= filteredFrom && (
        <IndicatorFilter rows={rows} found={found.length} filter={filter} onChange={setFilter} />
      )}
      <div className="@container">
        <table className="w-full table-fixed border-collapse text-12">
          <thead>
            <tr className="border-b text-left text-faint">
              <th className="h-7 font-normal">{texts.value}</th>
              <th className="w-24 pl-3 font-normal @max-sm:hidden">{texts.type}</th>
              <th className="w-24 pl-3 font-normal">{texts.status}</th>
              {rows[0]!.confidence !== undefined && (
                <th className="w-20 pl-3 text-right font-normal @max-lg:hidden">{texts.confidence}</th>
              )}
              {renderEnd && (
                <th className="w-8">
                  <span className="sr-only">{texts.passage}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {found.slice(0, limit).map((row) => (
              <tr key={`${row.type} ${row.normalizedValue}`} className="h-8 border-b last:border-b-0 hover:bg-hover">
                <td className="truncate py-1 font-mono">
                  <Value value={row.normalizedValue} isCut>
                    <IndicatorLink row={row} />
                  </Value>
                  {row.detail && (
                    <span className="block truncate font-sans text-muted" title={row.detail}>
                      {row.detail}
                    </span>
                  )}
                </td>
                <td className="truncate pl-3 text-muted @max-sm:hidden">{row.type.replaceAll('_', ' ')}</td>
                <td className={classes('truncate pl-3', row.status !== 'active' && 'text-muted')}>
                  {texts.statuses[row.status]}
                </td>
                {row.confidence !== undefined && (
                  <td className="tabular pl-3 text-right text-muted @max-lg:hidden">
                    {Math.round(row.confidence * 100)} %
                  </td>
                )}
                {renderEnd && <td className="text-right">{renderEnd(row)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {found.length === 0 && <p className="text-muted">{texts.noneFound}</p>}
      {found.length > limit && (
        <ShowMore onClick={() => setLimit(limit + shownMore)}>
          {texts.more(Math.min(shownMore, found.length - limit), found.length)}
        </ShowMore>
      )}
    </Section>
  );
}

const IndicatorLink = ({ row: { value, normalizedValue, status } }: { row: IndicatorRow }) => (
  <Link
    to="/indicators"
    search={{ values: normalizedValue, value: normalizedValue }}
    title={value}
    className={classes(
      'hover:text-accent hover:underline',
      status !== 'active' && 'text-muted',
      (status === 'revoked' || status === 'false_positive') && 'line-through',
    )}
  >
    {value}
  </Link>
);

type FilterProps = {
  rows: readonly IndicatorRow[];
  found: number;
  filter: IndicatorFilterState;
  onChange: (filter: IndicatorFilterState) => void;
};

/** Narrows a long list of indicators by words of the value, status and type. */
function IndicatorFilter({ rows, found, filter, onChange }: FilterProps) {
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
