import { Link } from '@tanstack/react-router';
import type { Overview } from '../../api/overview.ts';
import { formatNumber } from '../../lib/text.ts';
import { texts as page } from '../../texts/overview.ts';
import { Section } from '../../ui/section.tsx';
import { SeverityLabel } from '../../ui/labels/severity.tsx';
import { RelativeTime } from '../../ui/time.tsx';

const texts = page.hits;

/** The open hits by severity and age. Each line leads to its hits. */
export function OpenHits({ hits }: { hits: NonNullable<Overview['hits']> }) {
  const { columns } = texts;
  return (
    <Section level={2} title={texts.title} count={hits.open}>
      {hits.open === 0 ? (
        <p className="py-1.5 text-muted">{texts.none}</p>
      ) : (
        <table className="tabular w-full table-fixed text-12">
          <thead>
            <tr className="border-b text-right text-faint [&>th]:h-8 [&>th]:font-normal">
              <th className="text-left">{columns.severity}</th>
              <th>{columns.open}</th>
              <th>{columns.today}</th>
              <th className="max-md:hidden">{columns.week}</th>
              <th className="max-md:hidden">{columns.older}</th>
              <th>{columns.oldest}</th>
            </tr>
          </thead>
          <tbody>
            {hits.bySeverity.map(({ severity, open, newToday, newThisWeek, older, oldestAt }) => (
              <tr
                key={severity}
                className="relative border-b text-right last:border-b-0 hover:bg-hover [&>td]:h-8 [&>td]:pl-3 [&>td:first-child]:pl-0"
              >
                <td className="text-left">
                  <Link to="/hits" search={{ status: 'open', severity }} className="after:absolute after:inset-0">
                    <SeverityLabel severity={severity} />
                  </Link>
                </td>
                <td className="font-strong">{formatNumber(open)}</td>
                <Count value={newToday} />
                <Count value={newThisWeek} isMinor />
                <Count value={older} isMinor />
                <td className="text-muted">
                  <RelativeTime time={oldestAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}

function Count({ value, isMinor }: { value: number; isMinor?: boolean }) {
  return (
    <td className={`${value === 0 ? 'text-faint' : ''} ${isMinor ? 'max-md:hidden' : ''}`}>{formatNumber(value)}</td>
  );
}
