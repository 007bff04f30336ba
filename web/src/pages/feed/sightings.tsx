import { useQuery } from '@tanstack/react-query';
import { exposuresQuery } from '../../api/feed.ts';
import { texts } from '../../texts/feed.ts';
import { Section } from '../../ui/section.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { Skeleton } from '../../ui/states.tsx';

/** The rows of the organization's logs that contain an indicator of the item. */
export function Sightings({ id }: { id: string }) {
  const { data, error } = useQuery(exposuresQuery(id));
  return (
    <Section title={texts.sightings} count={data?.exposures.length || undefined}>
      {error ? (
        <p className="text-muted">{error.message}</p>
      ) : !data ? (
        <Skeleton className="h-8" />
      ) : data.exposures.length === 0 ? (
        <p className="text-muted">{texts.noSightings}</p>
      ) : (
        <ul className="flex flex-col text-12">
          {data.exposures.map((exposure, index) => (
            <li key={index} className="border-b last:border-b-0">
              <details>
                <summary className="flex min-h-8 items-center gap-3 hover:bg-hover">
                  <span className="min-w-0 grow truncate font-mono">{exposure.value}</span>
                  {exposure.match !== 'exact' && (
                    <span className="min-w-0 truncate text-muted">
                      {texts.sightingMatch[exposure.match]}: <span className="font-mono">{exposure.observed}</span>
                    </span>
                  )}
                  <span className="text-muted">{exposure.dataset}</span>
                  <span className="text-muted">
                    <RelativeTime time={exposure.foundAt} />
                  </span>
                </summary>
                <pre className="mb-2 max-h-72 overflow-auto rounded-control border p-2.5 font-mono break-words whitespace-pre-wrap">
                  {formatRow(exposure.event)}
                </pre>
              </details>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** The row with one field per line. A row that was cut is no longer JSON and stays as it is. */
function formatRow(event: string): string {
  try {
    return JSON.stringify(JSON.parse(event), null, 2);
  } catch {
    return event;
  }
}
