import { useInfiniteQuery } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { auditQuery, keysQuery, type AuditEntry } from '../../api/access.ts';
import { classes } from '../../lib/text.ts';
import { texts as common } from '../../texts/common.ts';
import { texts as all } from '../../texts/settings.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { ExactTime } from '../../ui/time.tsx';
import { findChanges } from './audit-changes.ts';
import { Loaded, SettingsSection } from './section.tsx';

const texts = all.audit;

export function AuditSection() {
  const query = useInfiniteQuery(auditQuery);
  // Names of keys make the log readable. Without the permission to read them, their IDs are shown.
  const { data: keyPages } = useInfiniteQuery({ ...keysQuery, retry: false });
  const names = new Map(keyPages?.pages.flatMap(({ keys }) => keys).map(({ id, name }) => [id, name]));
  return (
    <SettingsSection title={all.sections.audit} description={texts.description}>
      <Loaded query={query}>
        {({ pages }) => {
          const entries = pages.flatMap((page) => page.entries);
          if (entries.length === 0) return <EmptyState title={texts.none} />;
          return (
            <>
              <ul aria-label={all.sections.audit} className="divide-y rounded-control border text-12">
                {entries.map((entry) => (
                  <Entry
                    key={entry.id}
                    entry={entry}
                    who={
                      entry.actor ?? (entry.keyId === null ? texts.service : (names.get(entry.keyId) ?? entry.keyId))
                    }
                  />
                ))}
              </ul>
              {query.hasNextPage && (
                <Button
                  kind="quiet"
                  className="self-start"
                  disabled={query.isFetchingNextPage}
                  onClick={() => void query.fetchNextPage()}
                >
                  {common.loadMore}
                </Button>
              )}
            </>
          );
        }}
      </Loaded>
    </SettingsSection>
  );
}

function Entry({ entry, who }: { entry: AuditEntry; who: string }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <li>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
        className="grid w-full grid-cols-[auto_1fr_auto] items-center gap-x-3 px-3 py-1.5 text-left -outline-offset-2 hover:bg-hover md:grid-cols-[auto_10rem_minmax(0,12rem)_minmax(0,1fr)]"
      >
        <ChevronRight
          className={classes('size-3.5 text-faint transition-transform', isOpen && 'rotate-90')}
          aria-hidden
        />
        <span className="text-muted max-md:order-3">
          <ExactTime time={entry.at} />
        </span>
        <span className="truncate font-mono">{entry.action}</span>
        <span className="truncate text-muted max-md:order-4 max-md:col-span-2 max-md:col-start-2">
          {`${who} · ${entry.resourceType} ${findName(entry)}`}
        </span>
      </button>
      {isOpen && <Changes entry={entry} />}
    </li>
  );
}

/** The name of what was changed, or its ID. */
function findName({ before, after, resourceId }: AuditEntry): string {
  for (const record of [after, before])
    if (typeof record === 'object' && record !== null && 'name' in record) return String(record.name);
  return resourceId;
}

function Changes({ entry }: { entry: AuditEntry }) {
  const changes = findChanges(entry.before, entry.after);
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
    </div>
  );
}
