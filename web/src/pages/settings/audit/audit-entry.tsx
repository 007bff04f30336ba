import { Link } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import type { AuditEntry } from '../../../api/access.ts';
import { classes, shortenMiddle } from '../../../lib/text.ts';
import { texts as all } from '../../../texts/settings.ts';
import { ExactTime } from '../../../ui/time.tsx';

const texts = all.audit;

/** A change, which opens to the fields that changed. */
export function Entry({ entry, author }: { entry: AuditEntry; author: string }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <li>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
        className="grid w-full grid-cols-[auto_1fr_auto] items-center gap-x-3 px-3 py-1.5 text-left -outline-offset-2 hover:bg-hover lg:grid-cols-[auto_10rem_minmax(0,12rem)_minmax(0,1fr)]"
      >
        <ChevronRight
          className={classes('size-3.5 text-faint transition-transform', isOpen && 'rotate-90')}
          aria-hidden
        />
        <span className="text-muted max-lg:order-3">
          <ExactTime time={entry.at} />
        </span>
        <span className="truncate font-mono">{entry.action}</span>
        <span className="truncate text-muted max-lg:order-4 max-lg:col-span-2 max-lg:col-start-2">
          {`${author} · ${entry.resourceType} ${findName(entry)}`}
        </span>
      </button>
      {isOpen && <Changes entry={entry} />}
    </li>
  );
}

/** The name of what was changed, or its shortened ID. */
function findName({ before, after, resourceId }: AuditEntry): string {
  for (const record of [after, before])
    if (typeof record === 'object' && record !== null && 'name' in record) return String(record.name);
  return shortenMiddle(resourceId);
}

function Changes({ entry }: { entry: AuditEntry }) {
  const changes = findChanges(entry.before, entry.after);
  const author = entry.actor ?? entry.keyId;
  return (
    <div
      className="overflow-x-auto border-t bg-ground px-3 py-2"
      tabIndex={0}
      role="region"
      aria-label={texts.details(entry.action)}
    >
      {changes.length === 0 ? (
        <p className="text-muted">{texts.unchanged}</p>
      ) : (
        <table className="w-full">
          <thead>
            <tr className="text-left text-faint">
              <th scope="col" className="w-40 font-normal">
                <span className="sr-only">{all.retention.field}</span>
              </th>
              <th scope="col" className="w-1/2 pr-4 font-normal">
                {texts.before}
              </th>
              <th scope="col" className="w-1/2 font-normal">
                {texts.after}
              </th>
            </tr>
          </thead>
          <tbody className="align-top">
            {changes.map(({ field, before, after }) => (
              <tr key={field}>
                <th scope="row" className="py-0.5 pr-4 text-left font-normal text-muted">
                  {field}
                </th>
                <td className="py-0.5 pr-4 font-mono break-all">{before ?? <span className="text-faint">–</span>}</td>
                <td className="py-0.5 font-mono break-all">{after ?? <span className="text-faint">–</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p className="flex gap-4 pt-2">
        <Link to="/settings/audit" search={{ target: entry.resourceId }} className="text-accent hover:underline">
          {texts.history}
        </Link>
        {author && (
          <Link to="/settings/audit" search={{ actor: author }} className="text-accent hover:underline">
            {texts.author}
          </Link>
        )}
      </p>
    </div>
  );
}

type Change = { field: string; before: string | undefined; after: string | undefined };

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const toText = (value: unknown): string | undefined => {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** Returns the fields that differ between two versions of a record. A version may be missing. */
function findChanges(before: unknown, after: unknown): Change[] {
  const [old, current] = [isRecord(before) ? before : {}, isRecord(after) ? after : {}];
  return [...new Set([...Object.keys(old), ...Object.keys(current)])]
    .map((field) => ({ field, before: toText(old[field]), after: toText(current[field]) }))
    .filter((change) => change.before !== change.after);
}
