import type { ItemSighting } from '../../api/feed.ts';
import { texts } from '../../texts/feed.ts';
import { ExactTime, RelativeTime } from '../time.tsx';

type Props = { sighting: ItemSighting; showsValue?: boolean };

/** A row of the logs that contains an indicator: where, why it matches if it does not contain it as it is, and when. It opens to all fields. */
export function Sighting({ sighting: { dataset, value, match, observed, event, foundAt }, showsValue }: Props) {
  const row = readRow(event);
  const time = row && findTime(row);
  return (
    <li className="border-b last:border-b-0">
      <details>
        <summary className="flex min-h-8 items-center gap-3 hover:bg-hover">
          {showsValue && <span className="max-w-1/2 shrink-0 truncate font-mono">{value}</span>}
          <span className="shrink-0 text-muted">{dataset}</span>
          <span className="min-w-0 grow truncate text-muted" title={match === 'exact' ? undefined : observed}>
            {match === 'exact' ? (
              !showsValue && row && summarize(row)
            ) : (
              <>
                {texts.sightingMatch[match]}: <span className="font-mono">{observed}</span>
              </>
            )}
          </span>
          <span className="shrink-0 text-muted">
            {time === undefined ? <RelativeTime time={foundAt} /> : <ExactTime time={time} />}
          </span>
        </summary>
        <pre className="mb-2 max-h-72 overflow-auto rounded-control border p-2.5 font-mono break-words whitespace-pre-wrap">
          {row ? JSON.stringify(row, null, 2) : event}
        </pre>
      </details>
    </li>
  );
}

type Row = Record<string, unknown>;

/** Returns the row. One that was cut is no longer JSON, and then undefined. */
function readRow(event: string): Row | undefined {
  try {
    const row: unknown = JSON.parse(event);
    return typeof row === 'object' && row !== null ? (row as Row) : undefined;
  } catch {
    return undefined;
  }
}

const timeNames = ['_time', '@timestamp', 'timestamp', 'time', 'eventTime'];

const findTime = (row: Row): string | undefined =>
  timeNames
    .map((name) => row[name])
    .find((value): value is string => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value));

/** The first fields, which say what happened. */
const summarize = (row: Row): string =>
  listFields(row, '')
    .slice(0, 4)
    .map(([name, value]) => `${name} ${value}`)
    .join(' · ');

function listFields(row: Row, prefix: string): [name: string, value: string][] {
  return Object.entries(row)
    .filter(([name]) => !/^[_@]/.test(name) && !timeNames.includes(name))
    .flatMap(([name, value]): [string, string][] => {
      if (typeof value === 'object')
        return value === null || Array.isArray(value) ? [] : listFields(value as Row, `${prefix}${name}.`);
      return [[`${prefix}${name}`, String(value)]];
    });
}
