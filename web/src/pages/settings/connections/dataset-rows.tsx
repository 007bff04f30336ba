import { useQuery } from '@tanstack/react-query';
import { Plus, X } from 'lucide-react';
import { useId, useRef } from 'react';
import { libraryDatasetsQuery, type ConnectionKind } from '../../../api/connections.ts';
import { texts as all } from '../../../texts/settings.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { findFieldError, TextField } from '../../../ui/forms/field.tsx';
import { findDuplicate, type PlacedDataset } from './placed-datasets.ts';

const texts = all.connections.datasets;

const rowsMax = 100;

type Props = {
  source: ConnectionKind['source'];
  rows: readonly PlacedDataset[];
  error: Error | null;
  onChange: (rows: PlacedDataset[]) => void;
};

/** The setting `datasets`: where portable queries find each dataset in the SIEM. Offers the names that shipped detections use. */
export function DatasetRows({ source, rows, error, onChange }: Props) {
  const { data: names } = useQuery(libraryDatasetsQuery);
  const list = useRef<HTMLFieldSetElement>(null);
  const optionsId = useId();
  const added = useRef(0);
  const add = (): void => {
    added.current += 1;
    onChange([...rows, { key: `new-${added.current}`, dataset: '', source: '', event: '', isNew: true }]);
  };
  const change = (index: number, part: Partial<PlacedDataset>): void =>
    onChange(rows.map((row, n) => (n === index ? { ...row, ...part } : row)));
  const remove = (index: number): void => {
    onChange(rows.filter((_, n) => n !== index));
    list.current?.querySelector<HTMLElement>('[data-add]')?.focus();
  };
  const duplicate = findDuplicate(rows);
  const general = findFieldError(error, '/settings/datasets');
  return (
    <fieldset ref={list} className="flex flex-col gap-3">
      <legend className="pb-1 text-12 text-muted">{texts.title}</legend>
      <p className="max-w-[72ch] text-12 text-faint">{texts.hint}</p>
      {rows.map((row, index) => (
        <div
          key={row.key}
          role="group"
          aria-label={texts.row(index + 1)}
          className="grid grid-cols-[1fr_auto] items-start gap-x-2 gap-y-2 max-md:border-b max-md:pb-3 md:grid-cols-[1fr_1.6fr_1.2fr_auto]"
        >
          <TextField
            label={texts.dataset}
            value={row.dataset}
            required
            list={optionsId}
            className="font-mono text-12"
            error={
              duplicate === index ? texts.duplicate : findFieldError(error, `/settings/datasets/${row.dataset.trim()}`)
            }
            autoFocus={row.isNew}
            onChange={(event) => change(index, { dataset: event.target.value })}
          />
          <div className="max-md:order-1 max-md:col-span-2">
            <TextField
              label={source.label}
              value={row.source}
              required
              placeholder={source.example}
              className="font-mono text-12"
              error={findFieldError(error, `/settings/datasets/${row.dataset.trim()}/source`)}
              onChange={(event) => change(index, { source: event.target.value })}
            />
          </div>
          <div className="max-md:order-1 max-md:col-span-2">
            <TextField
              label={texts.event}
              value={row.event}
              placeholder={texts.eventDefault}
              className="font-mono text-12"
              error={findFieldError(error, `/settings/datasets/${row.dataset.trim()}/event`)}
              onChange={(event) => change(index, { event: event.target.value })}
            />
          </div>
          <IconButton label={texts.remove(row.dataset)} className="mt-5.5" onClick={() => remove(index)}>
            <X className="size-3.5" aria-hidden />
          </IconButton>
        </div>
      ))}
      {general && (
        <p role="alert" className="text-12 text-bad">
          {general}
        </p>
      )}
      <Button data-add className="w-fit" disabled={rows.length >= rowsMax} onClick={add}>
        <Plus className="size-3.5" aria-hidden />
        {texts.add}
      </Button>
      <datalist id={optionsId}>
        {names?.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </fieldset>
  );
}
