import { useQuery } from '@tanstack/react-query';
import { siemsQuery } from '../../api/connections.ts';
import { toCsv, type ValueList, type ValueListInput } from '../../api/detection-parts.ts';
import { texts } from '../../texts/lists.ts';
import { findFieldError, SelectField, TextArea, TextField } from '../../ui/forms/field.tsx';

export type Origin = keyof typeof texts.origins;
type Values = Record<
  'name' | 'description' | 'csv' | 'url' | 'query' | 'columns' | 'connectionId' | 'span' | 'hours',
  string
> & {
  from: Origin;
};

export function toValues(list: ValueList | undefined): Values {
  const source = list?.source;
  const query = source && 'query' in source ? source : undefined;
  const url = source && 'url' in source ? source.url : '';
  return {
    name: list?.name ?? '',
    description: list?.description ?? '',
    from: query ? 'query' : source ? 'address' : 'rows',
    csv: list ? toCsv(list) : '',
    url,
    query: query?.query ?? '',
    columns: query && list ? list.columns.join(', ') : '',
    connectionId: query?.connectionId ?? '',
    span: String(query?.spanHours ?? 24),
    hours: String(source?.everyHours ?? 24),
  };
}

export function toContent({ from, csv, url, query, columns, connectionId, span, hours }: Values): ValueListInput {
  const everyHours = Number(hours);
  if (from === 'rows') return { csv };
  if (from === 'address') return { source: { url: url.trim(), everyHours } };
  return {
    columns: columns.split(',').map((column) => column.trim()),
    source: { query: query.trim(), connectionId: connectionId || null, spanHours: Number(span), everyHours },
  };
}

type SourceProps = { values: Values; onChange: (changes: Partial<Values>) => void; error: Error | null };

/** Where the rows are fetched from, and how often. */
export function SourceFields({ values, onChange, error }: SourceProps) {
  const { data: siems = [] } = useQuery(siemsQuery);
  return (
    <>
      {values.from === 'address' ? (
        <TextField
          label={texts.address}
          hint={texts.addressHint}
          required
          placeholder="https://"
          className="font-mono text-12"
          value={values.url}
          onChange={({ target }) => onChange({ url: target.value })}
          error={findFieldError(error, '/source/url')}
        />
      ) : (
        <>
          <TextArea
            label={texts.query}
            hint={texts.queryHint}
            required
            rows={6}
            className="font-mono text-12"
            value={values.query}
            onChange={({ target }) => onChange({ query: target.value })}
            error={findFieldError(error, '/source/query')}
          />
          <TextField
            label={texts.columns}
            hint={texts.columnsHint}
            required
            className="font-mono text-12"
            value={values.columns}
            onChange={({ target }) => onChange({ columns: target.value })}
            error={findFieldError(error, '/columns')}
          />
          <SelectField
            label={texts.connection}
            options={[{ value: '', label: texts.store }, ...siems.map(({ id, name }) => ({ value: id, label: name }))]}
            value={values.connectionId}
            onChange={({ target }) => onChange({ connectionId: target.value })}
          />
          <TextField
            label={texts.span}
            required
            type="number"
            value={values.span}
            onChange={({ target }) => onChange({ span: target.value })}
            error={findFieldError(error, '/source/spanHours')}
          />
        </>
      )}
      <TextField
        label={texts.hours}
        required
        type="number"
        value={values.hours}
        onChange={({ target }) => onChange({ hours: target.value })}
        error={findFieldError(error, '/source/everyHours')}
      />
    </>
  );
}
