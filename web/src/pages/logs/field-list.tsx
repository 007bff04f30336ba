import { useQuery } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { fieldsQuery, type LogField, type LogScope } from '../../api/logs.ts';
import { classes, formatNumber } from '../../lib/text.ts';
import { texts } from '../../texts/logs.ts';
import { Skeleton } from '../../ui/states.tsx';

type Props = { dataset: string; scope: LogScope; onPick: (field: LogField, value: string) => void };

/** The fields of a dataset with their types and most frequent values. A click on a value adds it to the query. */
export function FieldList({ dataset, scope, onPick }: Props) {
  const { data, error } = useQuery({ ...fieldsQuery(dataset, scope), placeholderData: (previous) => previous });
  const [filter, setFilter] = useState('');
  const [openName, setOpenName] = useState<string | null>(null);
  const fields = data?.fields.filter(({ name }) => name.toLowerCase().includes(filter.trim().toLowerCase()));
  return (
    <section aria-label={texts.fields} className="flex w-64 shrink-0 flex-col border-r max-lg:hidden">
      <div className="border-b p-2">
        <input
          type="search"
          aria-label={texts.findField}
          placeholder={texts.findField}
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          className="h-7 w-full rounded-control border bg-surface px-2 placeholder:text-faint"
        />
      </div>
      <div className="min-h-0 grow overflow-y-auto py-1 text-12">
        {error && !data && <p className="p-3 break-words text-muted">{error.message}</p>}
        {!data && !error && <Skeleton className="m-3 h-40" />}
        {fields?.length === 0 && <p className="p-3 text-muted">{texts.noField}</p>}
        {fields?.map((field) => (
          <Field
            key={field.name}
            field={field}
            sampled={data!.sampled}
            isOpen={openName === field.name}
            onToggle={() => setOpenName(openName === field.name ? null : field.name)}
            onPick={(value) => onPick(field, value)}
          />
        ))}
      </div>
      {data && (
        <p className="tabular border-t px-3 py-1.5 text-12 text-faint">{texts.sampled(formatNumber(data.sampled))}</p>
      )}
    </section>
  );
}

type FieldProps = {
  field: LogField;
  sampled: number;
  isOpen: boolean;
  onToggle: () => void;
  onPick: (value: string) => void;
};

/** Names of types as people say them. */
const typeNames: Record<string, string> = {
  VARCHAR: 'text',
  BIGINT: 'number',
  DOUBLE: 'number',
  BOOLEAN: 'true/false',
  TIMESTAMP: 'time',
  JSON: 'object',
};
const typeName = (type: string): string =>
  type.endsWith('[]') ? `${typeNames[type.slice(0, -2)] ?? type} list` : (typeNames[type] ?? type.toLowerCase());

function Field({ field, sampled, isOpen, onToggle, onPick }: FieldProps) {
  const { name, type, present, distinct, top } = field;
  return (
    <div>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={onToggle}
        className="flex h-6.5 w-full items-center gap-1.5 pr-3 pl-2 text-left -outline-offset-2 hover:bg-hover"
      >
        <ChevronRight
          className={classes('size-3 shrink-0 text-faint transition-transform', isOpen && 'rotate-90')}
          aria-hidden
        />
        <span className="min-w-0 truncate font-mono">{name}</span>
        <span className="ml-auto shrink-0 text-faint">{typeName(type)}</span>
      </button>
      {isOpen && (
        <div className="pr-3 pb-2 pl-6.5">
          <p className="tabular pb-1 text-faint">
            {texts.present(present)}
            {distinct !== null && ` · ${texts.distinct(distinct)}`}
          </p>
          {top.length === 0 && <p className="text-muted">{texts.noValues}</p>}
          {top.map(({ value, events }) => (
            <button
              key={value}
              type="button"
              onClick={() => onPick(value)}
              className="group relative flex w-full items-center gap-2 rounded-small px-1 py-0.5 text-left hover:bg-hover"
            >
              <span
                className="absolute inset-y-0.5 left-0 rounded-small bg-selected"
                style={{ width: `${(events / Math.max(1, sampled)) * 100}%` }}
                aria-hidden
              />
              <span className="sr-only">{texts.only(name)}</span>
              <span className="relative min-w-0 truncate font-mono group-hover:underline">{value || '""'}</span>
              <span className="tabular relative ml-auto text-muted">{formatNumber(events)}</span>
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
