import type { HitDetail } from '../../api/hits.ts';
import { toWords } from '../../lib/text.ts';
import { texts } from '../../texts/hits.ts';
import { ExactTime } from '../../ui/time.tsx';
import { BaselineChart, readBaseline } from './baseline-chart.tsx';

/** Facts that another part of the page shows, or that mean nothing to a reader. */
const hiddenFacts = new Set(['valueKeys', 'windowFrom', 'windowTo', 'entityNamed', 'candidateRows', 'sampleValues']);

/** What code computed from the rows and the history, with a chart where there is a baseline. */
export function Facts({ hit }: { hit: HitDetail }) {
  const baseline = readBaseline(hit.facts);
  const entries = Object.entries(hit.facts).filter(([name, value]) => !hiddenFacts.has(name) && isShown(value));
  return (
    <div className="flex flex-col gap-3">
      {baseline && <BaselineChart baseline={baseline} />}
      <dl className="grid grid-cols-[8.5rem_1fr] gap-x-3 gap-y-1.5">
        <Fact name={texts.detection}>{hit.detection.name}</Fact>
        <Fact name={texts.entity}>
          <span className="font-mono text-12 break-all">{hit.entity}</span>
        </Fact>
        <Fact name={texts.window}>
          <ExactTime time={hit.windowFrom} /> – <ExactTime time={hit.windowTo} />
        </Fact>
        <Fact name={texts.confidence}>
          <span className="tabular">{hit.confidence} %</span>
        </Fact>
        {entries.map(([name, value]) => (
          <Fact key={name} name={toWords(name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase())}>
            <span className="tabular break-words">{formatFact(value)}</span>
          </Fact>
        ))}
      </dl>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}

const isShown = (value: unknown): boolean =>
  typeof value === 'number' ||
  (typeof value === 'string' && value !== '') ||
  (Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry !== 'object'));

const formatFact = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value));
