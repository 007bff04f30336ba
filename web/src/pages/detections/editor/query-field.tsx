import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { connectionKindsQuery, type Connection } from '../../../api/connections.ts';
import { connectionFieldsQuery } from '../../../api/detection-parts.ts';
import { texts } from '../../../texts/editor.ts';
import { CodeEditor } from '../../../ui/code/code-editor.tsx';
import type { QueryNames } from '../../../ui/code/complete-names.ts';
import { SegmentedControl } from '../../../ui/forms/segmented-control.tsx';
import type { FormProps } from './draft.ts';

type Props = FormProps & { connection: Connection | undefined; onPreview: () => void };

/** Columns of every event in the embedded engine, which also runs portable queries. */
const systemColumns = [
  { name: '_id', type: 'VARCHAR' },
  { name: '_time', type: 'TIMESTAMP' },
  { name: '_event', type: 'JSON' },
];

/** The query, in the language of the connection or as a portable one, with completion of what it can read. */
export function QueryField({ connection, draft, onChange, problemOf, onPreview }: Props) {
  const query = draft.detectionQuery;
  const placed = datasetsOf(connection);
  const portable = isPortable(query);
  const isRemote = connection !== undefined && !connection.isDefault;
  const { data: kinds } = useQuery({ ...connectionKindsQuery, enabled: isRemote });
  const kind = isRemote ? kinds?.kinds.find((one) => one.kind === connection.kind) : undefined;
  const names = useQueryNames(connection, portable);
  const problem = problemOf('detectionQuery');
  const label = texts.fields.detectionQuery;
  return (
    <div className="flex flex-col gap-1">
      <div className="flex min-h-7 flex-wrap items-center justify-between gap-2">
        <span className="text-12 text-muted">{label}</span>
        {isRemote && (portable || placed.length > 0) && (
          <SegmentedControl
            label={texts.language}
            options={{ own: kind?.language ?? texts.ownLanguage, portable: texts.portable }}
            value={portable ? 'portable' : 'own'}
            onChange={(value) => onChange({ detectionQuery: setPortable(query, value === 'portable') })}
          />
        )}
      </div>
      <CodeEditor
        label={label}
        language={!isRemote || portable ? 'sql' : (kind?.names ?? 'pipes')}
        names={names}
        hint={!isRemote || portable ? texts.hints.query : (kind?.writing ?? '')}
        value={query}
        onChange={(detectionQuery) => onChange({ detectionQuery })}
        onSubmit={onPreview}
      />
      <p className={problem ? 'text-12 text-bad' : 'text-12 text-faint'}>{problem ?? texts.hints.detectionQuery}</p>
      {isRemote && (
        <p className="text-12 text-faint">
          {portable && placed.length === 0
            ? texts.noDatasets
            : portable
              ? texts.portableHint(placed.join(', '))
              : kind?.writing}
        </p>
      )}
    </div>
  );
}

const datasetsOf = (connection: Connection | undefined): string[] =>
  Object.keys((connection?.settings['datasets'] as object | undefined) ?? {});

/** Datasets with their columns. Those that the connection's settings name are known even while the SIEM does not answer. */
function useQueryNames(connection: Connection | undefined, portable: boolean): QueryNames | undefined {
  const { data: listed, isPending } = useQuery({
    ...connectionFieldsQuery(connection?.id ?? '', portable),
    enabled: connection !== undefined,
  });
  return useMemo(() => {
    const isEmbedded = portable || connection?.isDefault;
    const unlisted = portable ? datasetsOf(connection).map((dataset) => ({ dataset, fields: [] })) : [];
    if (isPending && unlisted.length === 0) return undefined;
    return Object.fromEntries(
      [...unlisted, ...(listed ?? [])].map(({ dataset, fields }) => [
        dataset,
        isEmbedded ? [...fields, ...systemColumns] : fields,
      ]),
    );
  }, [connection, isPending, listed, portable]);
}

const firstLine = /^\s*--\s*portable[^\S\n]*(?:\n|$)/i;

/** Returns whether the first line of a query says that it is portable: SQL of the embedded engine on the datasets of a connection. */
const isPortable = (query: string): boolean => firstLine.test(query);

/** Adds or removes the first line that makes a query portable. */
const setPortable = (query: string, portable: boolean): string =>
  portable ? (isPortable(query) ? query : `-- portable\n${query}`) : query.replace(firstLine, '');
