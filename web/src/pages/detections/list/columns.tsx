import { Link } from '@tanstack/react-router';
import type { DetectionSummary } from '../../../api/detections.ts';
import { classes, formatNumber } from '../../../lib/text.ts';
import { texts } from '../../../texts/detections.ts';
import type { Column } from '../../../ui/lists/data-table.tsx';
import { SeverityMark } from '../../../ui/labels/severity.tsx';
import { Sparkline } from '../../../ui/charts/sparkline.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { CategoryLabel } from '../../../ui/labels/category-label.tsx';
import { HealthLabel } from '../../../ui/labels/health-label.tsx';

const dash = <span className="text-faint">–</span>;

export const columns: Column<DetectionSummary>[] = [
  {
    id: 'name',
    header: texts.columns.name,
    width: 'minmax(10rem, 3fr)',
    sort: 'name',
    cell: ({ id, name, enabled, continuous }) => (
      <Link
        to="/detections/$id"
        params={{ id }}
        tabIndex={-1}
        onClick={(event) => event.stopPropagation()}
        className={classes('text-13', enabled ? 'text-ink' : 'text-muted')}
      >
        {name}
        {continuous && <span className="ml-2 text-12 text-muted">{texts.onArrival}</span>}
      </Link>
    ),
  },
  {
    id: 'health',
    header: texts.columns.health,
    width: '6.5rem',
    cell: ({ health }) => <HealthLabel health={health} />,
  },
  {
    id: 'category',
    header: texts.columns.category,
    width: 'minmax(8rem, 1fr)',
    from: 900,
    cell: ({ category }) => <span className="text-muted">{category && <CategoryLabel name={category} />}</span>,
  },
  {
    id: 'open',
    header: texts.columns.openHits,
    width: '4.5rem',
    align: 'right',
    from: 420,
    sort: 'openHits',
    cell: ({ openHits, severity }) =>
      openHits === 0 ? (
        dash
      ) : (
        <span className="inline-flex items-center gap-1.5 align-top">
          {severity && <SeverityMark severity={severity} />}
          {formatNumber(openHits)}
        </span>
      ),
  },
  {
    id: 'days',
    header: texts.columns.days,
    width: '10.5rem',
    from: 640,
    sort: 'newHits30d',
    cell: ({ hitsByDay, newHits30d }) => (
      <span className="flex items-center gap-3">
        <Sparkline values={hitsByDay} label={texts.hitsInDays(newHits30d)} />
        <span className="tabular" aria-hidden>
          {newHits30d === 0 ? dash : formatNumber(newHits30d)}
        </span>
      </span>
    ),
  },
  {
    id: 'precision',
    header: texts.columns.precision,
    width: '5.5rem',
    align: 'right',
    from: 1000,
    cell: ({ precision }) => (precision === null ? dash : `${Math.round(precision * 100)} %`),
  },
  {
    id: 'last',
    header: texts.columns.lastRun,
    width: '6rem',
    align: 'right',
    from: 760,
    sort: 'lastRunAt',
    cell: ({ lastRunAt }) => (lastRunAt === null ? dash : <RelativeTime time={lastRunAt} />),
  },
  {
    id: 'next',
    header: texts.columns.nextRun,
    width: '6rem',
    align: 'right',
    from: 1080,
    sort: 'nextRunAt',
    cell: ({ nextRunAt }) => (nextRunAt === null ? dash : <RelativeTime time={nextRunAt} />),
  },
];
