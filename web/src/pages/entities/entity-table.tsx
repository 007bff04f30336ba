import type { Entity } from '../../api/entities.ts';
import { formatNumber } from '../../lib/text.ts';
import { texts } from '../../texts/entities.ts';
import { DataTable, type Column } from '../../ui/lists/data-table.tsx';
import { RelativeTime } from '../../ui/time.tsx';

const columns: Column<Entity>[] = [
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
    id: 'type',
    header: texts.type,
    width: '7rem',
    cell: ({ type }) => <span className="text-muted">{texts.types[type]}</span>,
  },
  {
    id: 'attackId',
    header: 'ATT&CK',
    width: '5.5rem',
    from: 640,
    cell: ({ attackId }) => <span className="tabular font-mono text-muted">{attackId}</span>,
  },
  { id: 'items', header: texts.items, width: '5rem', align: 'right', cell: ({ items }) => formatNumber(items) },
  {
    id: 'firstSeen',
    header: texts.firstSeen,
    width: '7rem',
    align: 'right',
    from: 760,
    cell: ({ firstSeen }) => (
      <span className="text-muted">
        <RelativeTime time={firstSeen} />
      </span>
    ),
  },
  {
    id: 'lastSeen',
    header: texts.lastSeen,
    width: '7rem',
    align: 'right',
    from: 480,
    cell: ({ lastSeen }) => (
      <span className="text-muted">
        <RelativeTime time={lastSeen} />
      </span>
    ),
  },
];

export const entityKey = ({ type, name }: Pick<Entity, 'type' | 'name'>): string => `${type} ${name}`;

type Props = {
  entities: readonly Entity[];
  filter: object;
  openKey: string | undefined;
  onOpen: (entity: Entity) => void;
  onEnd: () => void;
};

export const EntityTable = ({ entities, filter, openKey, onOpen, onEnd }: Props) => (
  <DataTable
    label={texts.title}
    rows={entities}
    filter={filter}
    columns={columns}
    rowId={entityKey}
    rowLabel={({ name }) => name}
    activeId={openKey}
    onOpen={onOpen}
    onEnd={onEnd}
  />
);
