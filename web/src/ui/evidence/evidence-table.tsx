import { Fragment, useState } from 'react';
import type { CitedValue, HitDetail } from '../../api/hits.ts';
import { classes } from '../../lib/text.ts';
import { formatClock, formatLocal, formatUtc } from '../../lib/time.ts';
import { texts } from '../../texts/evidence.ts';
import { Value } from '../value.tsx';

type Props = {
  rows: HitDetail['rows'];
  evidence: readonly Pick<CitedValue, 'rowId' | 'field' | 'why'>[];
  /** Begins an exception for the value of a field. */
  onExcept?: (field: string) => void;
};
type Row = Props['rows'][number];
type RowsProps = {
  rows: Props['rows'];
  columns: string[];
  findReason: (row: Row, field: string) => string | undefined;
  onExcept: Props['onExcept'];
};

/**
 * Rows of a query: a single row as a list of its fields, several as a table. Rows of an aggregation have no time. Values that the verdict cites are
 * marked, and so are their rows among others. Fields that it cites nowhere are hidden until asked for.
 */
export function EvidenceTable({ rows, evidence, onExcept }: Props) {
  const [showsAll, setShowsAll] = useState(false);
  const cited = new Map(evidence.map((item) => [`${item.rowId}\n${item.field}`, item.why]));
  const citedFields = [...new Set(evidence.map(({ field }) => field))];
  const otherFields = [...new Set(rows.flatMap(({ fields }) => Object.keys(fields)))].filter(
    (field) => !citedFields.includes(field),
  );
  const columns = showsAll || citedFields.length === 0 ? [...citedFields, ...otherFields] : citedFields;
  const findReason = (row: Row, field: string): string | undefined =>
    [row.rowId, ...(row.eventIds ?? [])].map((id) => cited.get(`${id}\n${field}`)).find((why) => why !== undefined);
  const shown = { rows, columns, findReason, onExcept };
  return (
    <div>
      <div className="overflow-x-auto rounded-control border" tabIndex={0} role="group" aria-label={texts.evidence}>
        {rows.length === 1 ? <FieldList {...shown} /> : <RowTable {...shown} />}
      </div>
      {!showsAll && citedFields.length > 0 && otherFields.length > 0 && (
        <button type="button" onClick={() => setShowsAll(true)} className="mt-1.5 text-12 text-muted hover:text-ink">
          {texts.allFields(otherFields.length)}
        </button>
      )}
    </div>
  );
}

function FieldList({ rows, columns, findReason, onExcept }: RowsProps) {
  const row = rows[0]!;
  return (
    <dl className="grid grid-cols-[fit-content(10rem)_minmax(0,1fr)] gap-x-3 gap-y-1.5 px-2.5 py-2 text-12">
      {row.time && (
        <>
          <dt className="text-faint">{texts.time}</dt>
          <dd className="tabular text-muted">
            <RowTime time={row.time} />
          </dd>
        </>
      )}
      {columns.map((field) => (
        <Fragment key={field}>
          <dt className="wrap-anywhere text-faint">{field}</dt>
          <dd className="font-mono wrap-anywhere">
            <Cell {...{ row, field, onExcept }} why={findReason(row, field)} />
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

function RowTable({ rows, columns, findReason, onExcept }: RowsProps) {
  const hasTimes = rows.some(({ time }) => time);
  const cited = new Set(rows.filter((row) => columns.some((field) => findReason(row, field) !== undefined)));
  return (
    <table className="w-max min-w-full border-collapse text-12">
      <thead>
        <tr className="border-b text-left text-faint">
          {hasTimes && <th className="h-7 px-2.5 font-normal">{texts.time}</th>}
          {columns.map((field) => (
            <th key={field} className="h-7 px-2.5 font-normal whitespace-nowrap">
              {field}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr
            key={row.rowId}
            className={classes(
              'border-b align-top last:border-b-0',
              cited.size < rows.length && cited.has(row) ? 'bg-selected' : 'hover:bg-hover',
            )}
          >
            {hasTimes && (
              <td className="tabular px-2.5 py-1.5 whitespace-nowrap text-muted">
                {row.time && <RowTime time={row.time} />}
              </td>
            )}
            {columns.map((field) => (
              <td key={field} className="max-w-[min(26rem,70vw)] min-w-24 px-2.5 py-1.5 font-mono wrap-anywhere">
                <Cell {...{ row, field, onExcept }} why={findReason(row, field)} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The time of a row can be cited like a field. */
const valueOf = ({ fields, time }: Row, field: string): string | undefined =>
  fields[field] ?? (field === 'time' ? (time ?? undefined) : undefined);

const RowTime = ({ time }: { time: string }) => (
  <time dateTime={time} title={`${formatLocal(time)}\n${formatUtc(time)}`}>
    {formatClock(time)}
  </time>
);

type CellProps = { row: Row; field: string; why: string | undefined; onExcept: Props['onExcept'] };

/** A value of a row, marked if `why` says that the verdict cites it. */
function Cell({ row, field, why, onExcept }: CellProps) {
  const value = valueOf(row, field);
  if (value === undefined) return <span className="text-faint">–</span>;
  return (
    <Value value={value} at={row.time} onExcept={onExcept && (() => onExcept(field))}>
      <span
        {...(why === undefined ? {} : { title: why || texts.cited })}
        className={classes(why !== undefined && 'rounded-small bg-mark box-decoration-clone px-1 -mx-1')}
      >
        {value}
      </span>
    </Value>
  );
}
