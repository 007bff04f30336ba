import { lazy, Suspense, useState } from 'react';
import type { ItemDetail } from '../../../api/feed.ts';
import { toWords } from '../../../lib/text.ts';
import { texts } from '../../../texts/feed.ts';
import { Button } from '../../../ui/button.tsx';
import { Section } from '../../../ui/section.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import { ExactTime } from '../../../ui/time.tsx';

const TextComparison = lazy(() => import('../text/text-comparison.tsx'));

/** The versions of an item, newest first. Any two neighbors can be compared. */
export function Versions({ item }: { item: ItemDetail }) {
  const [compared, setCompared] = useState<number>();
  const versions = item.versions.toSorted((a, b) => b.version - a.version);
  return (
    <Section title={texts.versions} count={versions.length}>
      <ol className="flex flex-col text-12">
        {versions.map(({ version, cause, changed, at, note }) => (
          <li key={version} className="flex flex-col gap-1 border-b py-1.5 last:border-b-0">
            <div className="flex min-h-7 items-center gap-3">
              <span className="tabular w-20 shrink-0">{texts.version(version)}</span>
              <span className="min-w-0 grow">
                {texts.causes[cause] ?? toWords(cause)}
                {changed.length > 0 && <span className="text-muted">: {changed.join(', ')}</span>}
              </span>
              <span className="text-muted">
                <ExactTime time={at} />
              </span>
              {version > 1 && (
                <Button
                  kind="quiet"
                  aria-expanded={compared === version}
                  aria-label={texts.compareWith(version - 1)}
                  onClick={() => setCompared(compared === version ? undefined : version)}
                >
                  {texts.compare}
                </Button>
              )}
            </div>
            {note && <p className="text-muted">{note}</p>}
            {compared === version && (
              <Suspense fallback={<Skeleton className="h-24" />}>
                <TextComparison id={item.id} from={version - 1} to={version} />
              </Suspense>
            )}
          </li>
        ))}
      </ol>
    </Section>
  );
}
