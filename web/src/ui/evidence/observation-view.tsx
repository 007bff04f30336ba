import { useState } from 'react';
import type { CitedValue, Observation } from '../../api/hits.ts';
import { texts } from '../../texts/evidence.ts';
import { CodeBlock } from '../code/code-block.tsx';
import { TimeRange } from '../time.tsx';
import { Value } from '../value.tsx';
import { EvidenceTable } from './evidence-table.tsx';

const rowsShown = 5;

type Props = { observation: Observation; cells?: readonly Pick<CitedValue, 'rowId' | 'field' | 'why'>[] };

/** A query or the call of a tool, with the rows that it found. Cited rows come without the others until these are asked for. */
export function ObservationView({ observation, cells = [] }: Props) {
  const [showsAll, setShowsAll] = useState(false);
  const { id, tool, input, query, from, to, rows, total, hasEvents, isTrusted } = observation;
  const cited = rows.filter(({ rowId, eventIds = [] }) =>
    cells.some((cell) => cell.rowId === rowId || eventIds.includes(cell.rowId)),
  );
  const first = cited.length > 0 ? cited : rows.slice(0, rowsShown);
  const shown = showsAll || rows.length <= rowsShown ? rows : first;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <p className="flex flex-wrap items-baseline gap-x-3 text-12 text-muted">
        <span className="font-strong text-ink">{id === 'rows' ? texts.detectionQuery : `${id} · ${tool}`}</span>
        {from !== null && to !== null && (
          <span title={texts.span}>
            <TimeRange from={from} to={to} />
          </span>
        )}
        {isTrusted && <span>{texts.trusted}</span>}
      </p>
      {query === null ? <ToolInput input={input} /> : <CodeBlock text={query} label={texts.query} isWrapped />}
      {rows.length === 0 ? (
        <p className="text-12 text-muted">{texts.noRows[`${hasEvents}`]}</p>
      ) : (
        <>
          <EvidenceTable rows={shown} evidence={cells} />
          {total > 1 && (
            <p className="flex flex-wrap gap-x-3 text-12 text-muted">
              {texts.rowCount(rows.length, total)}
              {shown.length < rows.length && (
                <button type="button" onClick={() => setShowsAll(true)} className="text-accent hover:underline">
                  {texts.allRows(rows.length)}
                </button>
              )}
            </p>
          )}
        </>
      )}
    </div>
  );
}

/** What a tool was asked, by the names of its input. */
function ToolInput({ input }: { input: unknown }) {
  const entries = Object.entries(typeof input === 'object' && input !== null ? input : {});
  if (entries.length === 0) return null;
  return (
    <dl aria-label={texts.input} className="grid grid-cols-[fit-content(10rem)_minmax(0,1fr)] gap-x-3 gap-y-1 text-12">
      {entries.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="wrap-anywhere text-faint">{name}</dt>
          <dd className="font-mono wrap-anywhere">
            {typeof value === 'string' ? <Value value={value} /> : JSON.stringify(value)}
          </dd>
        </div>
      ))}
    </dl>
  );
}
