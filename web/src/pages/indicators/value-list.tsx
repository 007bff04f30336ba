import { Link } from '@tanstack/react-router';
import type { IndicatorLookup } from '../../api/indicators.ts';
import { Section } from '../../ui/section.tsx';
import { IndicatorStatus } from './indicator-status.tsx';

type Props = {
  title: string;
  values: NonNullable<IndicatorLookup['parts']>;
  count?: number;
  /** A line below the title. */
  note?: string | undefined;
};

/** Values with their status, each a link to its own look-up. */
export function ValueList({ title, values, count = values.length, note }: Props) {
  return (
    <Section title={title} count={count}>
      {note && <p className="text-muted">{note}</p>}
      {values.length > 0 && (
        <ul className="-mx-2 flex flex-col">
          {values.map(({ value, status }) => (
            <li key={value}>
              <Link
                to="/indicators"
                search={{ values: value, value }}
                className="flex gap-3 rounded-control px-2 py-1.5 hover:bg-hover"
              >
                <span className="min-w-0 grow truncate font-mono">{value}</span>
                <span className="text-12">
                  <IndicatorStatus status={status} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
