import { fieldToWords } from '../../lib/text.ts';
import { ExactTime } from '../time.tsx';
import { Value } from '../value.tsx';

/** Facts that other parts of a page show, or that mean nothing to a reader. */
const hidden = new Set([
  'valueKeys',
  'windowFrom',
  'windowTo',
  'entityNamed',
  'candidateRows',
  'sampleValues',
  'severityCell',
]);

const isShown = (value: unknown): boolean =>
  typeof value === 'number' ||
  (typeof value === 'string' && value !== '') ||
  (Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry !== 'object'));

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value);

/** Returns the text of a fact. */
export const formatFact = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value));

type Props = { facts: Record<string, unknown>; children?: React.ReactNode };

/** The facts that code computed from the rows and the history, as names and values. `children` are pairs that come first. */
export function FactList({ facts, children }: Props) {
  const entries = Object.entries(facts).filter(([name, value]) => !hidden.has(name) && isShown(value));
  return (
    <dl className="grid grid-cols-[minmax(6rem,8.5rem)_1fr] gap-x-3 gap-y-1.5">
      {children}
      {entries.map(([name, value]) => (
        <Fact key={name} name={fieldToWords(name)}>
          <span className="break-words">
            {isTime(value) ? (
              <ExactTime time={value} />
            ) : typeof value === 'string' ? (
              <Value value={value} />
            ) : (
              formatFact(value)
            )}
          </span>
        </Fact>
      ))}
    </dl>
  );
}

/** A name and a value of a list of descriptions. Without a value, a dash. */
export function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0">{children || <span className="text-faint">–</span>}</dd>
    </>
  );
}
