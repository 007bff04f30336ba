import type { IndicatorLookup } from '../../api/indicators.ts';
import { classes, formatNumber } from '../../lib/text.ts';
import { texts } from '../../texts/indicators.ts';
import { DataTable, type Column } from '../../ui/lists/data-table.tsx';
import { IndicatorStatus } from './indicator-status.tsx';

const columns: Column<IndicatorLookup>[] = [
  {
    id: 'value',
    header: texts.value,
    width: 'minmax(7rem, 1fr)',
    cell: ({ value }) => (
      <span title={value} className="font-mono">
        {value}
      </span>
    ),
  },
  {
    id: 'type',
    header: texts.type,
    width: '8rem',
    from: 560,
    cell: ({ type }) => <span className="text-muted">{type?.replaceAll('_', ' ') ?? '–'}</span>,
  },
  { id: 'status', header: texts.status, width: '8rem', cell: ({ status }) => <IndicatorStatus status={status} /> },
  {
    id: 'items',
    header: texts.items,
    width: '4.5rem',
    align: 'right',
    cell: ({ total }) => <span className={classes(total === 0 && 'text-faint')}>{formatNumber(total)}</span>,
  },
];

type Props = { indicators: IndicatorLookup[]; openValue: string | undefined; onOpen: (value: string) => void };

export const LookupTable = ({ indicators, openValue, onOpen }: Props) => (
  <DataTable
    label={texts.title}
    rows={indicators}
    columns={columns}
    rowId={({ value }) => value}
    rowLabel={({ value }) => value}
    activeId={openValue}
    onOpen={({ value }) => onOpen(value)}
  />
);
