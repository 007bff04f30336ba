import { useState } from 'react';
import type { HitDetail } from '../../api/hits.ts';
import { classes } from '../../lib/text.ts';
import { formatClock, formatLocal, formatUtc } from '../../lib/time.ts';
import { texts } from '../../texts/evidence.ts';

type Props = { rows: HitDetail['rows']; evidence: HitDetail['evidence'] };

/** The rows behind a hit. Rows of an aggregation have no time, and then no column for it. Cells that the verdict cites are marked; fields that it cites nowhere are hidden until asked for. */
export function EvidenceTable({ rows, evidence }: Props) {
  const [showsAll, setShowsAll] = useState(false);
  const cited = new Map(evidence.map((item) => [`${item.rowId}\n${item.field}`, item.why]));
  const citedFields = [...new Set(evidence.map(({ field }) => field))];
  const otherFields = [...new Set(rows.flatMap(({ fields }) => Object.keys(fields)))].filter(
    (field) => !citedFields.includes(field),
  );
  const columns = showsAll || citedFields.length === 0 ? [...citedFields, ...otherFields] : citedFields;
  const hasTimes = rows.some(({ time }) => time);
  const findReason = (row: Props['rows'][number], field: string): string | undefined =>
    [row.rowId, ...(row.eventIds ?? [])].map((id) => cited.get(`${id}\n${field}`)).find((why) => why !== undefined);
  return (
    <div>
      <div className="overflow-x-auto rounded-control border" tabIndex={0} role="region" aria-label={texts.evidence}>
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
              <tr key={row.rowId} className="border-b align-top last:border-b-0 hover:bg-hover">
                {hasTimes && (
                  <td className="tabular px-2.5 py-1.5 whitespace-nowrap text-muted">
                    {row.time && (
                      <time dateTime={row.time} title={`${formatLocal(row.time)}\n${formatUtc(row.time)}`}>
                        {formatClock(row.time)}
                      </time>
                    )}
                  </td>
                )}
                {columns.map((field) => {
                  const why = findReason(row, field);
                  return (
                    <td key={field} className="max-w-[min(26rem,70vw)] min-w-24 px-2.5 py-1.5 font-mono wrap-anywhere">
                      <span
                        {...(why === undefined ? {} : { title: why || texts.cited })}
                        className={classes(
                          why !== undefined && 'rounded-small bg-mark box-decoration-clone px-1 -mx-1',
                        )}
                      >
                        {row.fields[field] ?? <span className="text-faint">–</span>}
                      </span>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!showsAll && citedFields.length > 0 && otherFields.length > 0 && (
        <button type="button" onClick={() => setShowsAll(true)} className="mt-1.5 text-12 text-muted hover:text-ink">
          {texts.allFields(otherFields.length)}
        </button>
      )}
    </div>
  );
}
