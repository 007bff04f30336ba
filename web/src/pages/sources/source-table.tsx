import type { Source, SourceWorth } from '../../api/sources.ts';
import { formatNumber } from '../../lib/text.ts';
import { texts } from '../../texts/sources.ts';
import { DataTable, type Column } from '../../ui/lists/data-table.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { SourceHealth } from './source-view.tsx';

const toTime = (time: string | null) => <span className="text-muted">{time ? <RelativeTime time={time} /> : '–'}</span>;

type Row = Source & { worth: SourceWorth | undefined };

const columns: Column<Row>[] = [
  {
    id: 'name',
    header: texts.name,
    width: 'minmax(8rem, 1fr)',
    cell: ({ name }) => (
      <span title={name} className="text-13">
        {name}
      </span>
    ),
  },
  {
    id: 'publisher',
    header: texts.publisher,
    width: 'minmax(8rem, 16rem)',
    from: 900,
    cell: ({ publisher }) => <span className="text-muted">{publisher}</span>,
  },
  {
    id: 'kind',
    header: texts.kind,
    width: '5rem',
    from: 560,
    cell: ({ kind }) => <span className="text-muted uppercase">{kind}</span>,
  },
  { id: 'health', header: texts.health, width: '8rem', cell: (source) => <SourceHealth source={source} /> },
  {
    id: 'worth',
    header: texts.brings,
    width: '6rem',
    align: 'right',
    from: 760,
    cell: ({ worth }) =>
      worth && (
        <span className="tabular text-muted">
          {worth.addsNothing ? texts.addsNothing : formatNumber(worth.ownValues + worth.ownReports)}
        </span>
      ),
  },
  {
    id: 'lastPull',
    header: texts.lastPull,
    width: '6rem',
    align: 'right',
    from: 560,
    cell: ({ lastPullAt }) => toTime(lastPullAt),
  },
  {
    id: 'lastNew',
    header: texts.lastNew,
    width: '7rem',
    align: 'right',
    from: 380,
    cell: ({ lastNewAt }) => toTime(lastNewAt),
  },
];

type Props = { sources: Row[]; openId: string | undefined; onOpen: (id: string) => void };

export const SourceTable = ({ sources, openId, onOpen }: Props) => (
  <DataTable
    label={texts.title}
    rows={sources}
    columns={columns}
    rowId={({ id }) => id}
    rowLabel={({ name }) => name}
    activeId={openId}
    onOpen={({ id }) => onOpen(id)}
  />
);
