import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  changeConnection,
  connectionKindsQuery,
  createConnection,
  type Connection,
  type ConnectionChange,
  type ConnectionKind,
  type NewConnection,
} from '../../../api/connections.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts as all } from '../../../texts/settings.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/overlays/dialog.tsx';
import { findFieldError, FormError, SelectField, TextField } from '../../../ui/forms/field.tsx';
import { ErrorState, Skeleton } from '../../../ui/states.tsx';
import { readFields, readVariants, toTexts, toValues } from '../kind-fields.ts';
import { DatasetRows } from './dataset-rows.tsx';
import { KindInputs } from '../kind-inputs.tsx';
import { findDuplicate, pointersOf, readPlacedDatasets, toDatasetSettings } from './placed-datasets.ts';
import { RestoredDraft, useDraft } from '../../../ui/forms/use-draft.tsx';

const texts = all.connections;

type Props = {
  /** The connection to change. A new one without it. */
  connection?: Connection;
  onClose: () => void;
  onSaved: (connection: Connection) => void;
};

/** Adds or changes a connection. The fields follow the kind of SIEM, as the API describes it. */
export default function ConnectionForm({ connection, onClose, onSaved }: Props) {
  const { data, error, refetch } = useQuery(connectionKindsQuery);
  return (
    <Dialog title={connection ? texts.editTitle(connection.name) : texts.addTitle} isWide onClose={onClose}>
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data ? (
        <Form kinds={data.kinds} {...{ connection, onClose, onSaved }} />
      ) : (
        <Skeleton className="h-80 w-full" />
      )}
    </Dialog>
  );
}

type Values = Record<string, string>;

function Form({ kinds, connection, onClose, onSaved }: Props & { kinds: readonly ConnectionKind[] }) {
  const [{ kindName, name, settings, datasets, timing, credentials }, setValues, draft] = useDraft(
    `connection ${connection?.id ?? ''}`,
    {
      kindName: connection?.kind ?? kinds[0]!.kind,
      name: connection?.name ?? '',
      settings: connection ? toTexts(connection.settings) : {},
      datasets: readPlacedDatasets(connection?.settings['datasets']),
      timing: readTiming(connection),
      credentials: {} as Values,
    },
    ['credentials'],
  );
  const [seen] = useState(connection);
  const [variantIndex, setVariantIndex] = useState(0);
  const kind = kinds.find((one) => one.kind === kindName) ?? kinds[0]!;
  const fields = readFields(kind.settings);
  const variants = readVariants(kind.credentials);
  const variant = variants[variantIndex] ?? variants[0]!;
  const save = async (): Promise<Connection> => {
    const secrets = toValues(variant.fields, credentials);
    const body = {
      name: name.trim(),
      settings: { ...toValues(fields, settings), ...toDatasetSettings(datasets) },
      ...toTiming(timing),
    };
    if (seen)
      return changeConnection(seen, {
        ...body,
        ...(Object.keys(secrets).length > 0 && { credentials: secrets }),
      });
    return createConnection({ ...body, kind: kind.kind, credentials: secrets } as NewConnection);
  };
  const { mutate, error, isPending } = useMutation({
    mutationFn: save,
    onSuccess: (saved) => {
      draft.reset();
      onSaved(saved);
    },
  });
  const setIn = (part: 'settings' | 'credentials' | 'timing') => (field: string, value: string) =>
    setValues((values) => ({ [part]: { ...values[part], [field]: value } }));
  const rest = fields.filter(({ isRequired, isMain }) => !isRequired && !isMain);
  const shown = [
    '/name',
    ...fields.map((field) => `/settings/${field.name}`),
    ...variant.fields.map((field) => `/credentials/${field.name}`),
    ...pointersOf(datasets),
  ];
  return (
    <form
      className="flex flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (findDuplicate(datasets) < 0) mutate();
      }}
    >
      <div className="grid gap-4 md:grid-cols-2">
        <SelectField
          label={texts.kind}
          value={kind.kind}
          disabled={connection !== undefined}
          options={kinds.map((one) => ({ value: one.kind, label: one.label }))}
          onChange={(event) => {
            setValues({ kindName: event.target.value as ConnectionKind['kind'] });
            setVariantIndex(0);
          }}
        />
        <TextField
          label={texts.name}
          error={findFieldError(error, '/name')}
          value={name}
          required
          autoFocus
          onChange={(event) => setValues({ name: event.target.value })}
        />
        <KindInputs
          fields={fields.filter((field) => !rest.includes(field))}
          values={settings}
          pointer="/settings"
          error={error}
          onChange={setIn('settings')}
        />
      </div>
      <Credentials
        variants={variants}
        {...{ variantIndex, credentials, error }}
        isKept={connection !== undefined}
        onVariant={setVariantIndex}
        onChange={setIn('credentials')}
      />
      <DatasetRows
        source={kind.source}
        rows={datasets}
        error={error}
        onChange={(next) => setValues({ datasets: next })}
      />
      <details>
        <summary className="w-fit text-muted hover:text-ink">{texts.more}</summary>
        <div className="grid gap-4 pt-3 md:grid-cols-2">
          <KindInputs fields={rest} values={settings} pointer="/settings" error={error} onChange={setIn('settings')} />
          <TimingInputs isNew={connection === undefined} values={timing} error={error} onChange={setIn('timing')} />
        </div>
      </details>
      <FormError error={error} shown={[...shown, ...timingPointers]} />
      <RestoredDraft draft={draft} />
      <DialogActions>
        <Button onClick={onClose}>{common.cancel}</Button>
        <Button kind="primary" type="submit" disabled={isPending}>
          {texts.save}
        </Button>
      </DialogActions>
    </form>
  );
}

type CredentialsProps = {
  variants: ReturnType<typeof readVariants>;
  variantIndex: number;
  credentials: Values;
  /** Whether credentials that are left empty stay as they are. */
  isKept: boolean;
  error: Error | null;
  onVariant: (index: number) => void;
  onChange: (field: string, value: string) => void;
};

function Credentials({ variants, variantIndex, credentials, isKept, error, onVariant, onChange }: CredentialsProps) {
  return (
    <fieldset className="grid gap-4 md:grid-cols-2">
      <legend className="pb-2 text-12 text-faint">{isKept ? texts.credentialsKept : texts.credentialsHint}</legend>
      {variants.length > 1 && (
        <SelectField
          label={texts.signInWith}
          value={variantIndex}
          options={variants.map(({ label }, index) => ({ value: String(index), label }))}
          onChange={(event) => onVariant(Number(event.target.value))}
        />
      )}
      <KindInputs
        fields={(variants[variantIndex] ?? variants[0]!).fields}
        values={credentials}
        pointer="/credentials"
        isSecret
        isKept={isKept}
        error={error}
        onChange={onChange}
      />
    </fieldset>
  );
}

function readTiming(connection: Connection | undefined): Values {
  if (!connection) return {};
  const { clock, delayMinutes, recheckMinutes, places } = connection;
  return toTexts({ clock, delayMinutes, recheckMinutes, places });
}

/** Returns the fields that were filled in. The API knows the usual values of the others. */
const toTiming = ({ clock, ...numbers }: Values): Pick<ConnectionChange, 'clock' | 'delayMinutes' | 'places'> => ({
  ...(clock === 'event' || clock === 'ingest' ? { clock } : {}),
  ...Object.fromEntries(
    Object.entries(numbers).flatMap(([name, value]) => (value.trim() === '' ? [] : [[name, Number(value)]])),
  ),
});

type TimingProps = {
  /** Whether the connection has yet to be created. The API knows the usual values of a new one. */
  isNew: boolean;
  values: Readonly<Record<string, string>>;
  error: Error | null;
  onChange: (name: string, value: string) => void;
};

/** JSON pointers of the fields. */
const timingPointers = ['/clock', '/delayMinutes', '/recheckMinutes', '/places'];

/** The fields that determine when and how often a connection is queried. */
function TimingInputs({ isNew, values, error, onChange }: TimingProps) {
  return (
    <>
      <SelectField
        label={texts.clock}
        hint={texts.clockHint}
        error={findFieldError(error, '/clock')}
        value={values['clock'] ?? ''}
        options={[
          ...(isNew ? [{ value: '', label: '–' }] : []),
          ...Object.entries(texts.clocks).map(([value, label]) => ({ value, label })),
        ]}
        onChange={(event) => onChange('clock', event.target.value)}
      />
      {(
        [
          ['delayMinutes', texts.delay, texts.delayHint, '5'],
          ['recheckMinutes', texts.recheck, texts.recheckHint, '360'],
          ['places', texts.places, undefined, '4'],
        ] as const
      ).map(([field, label, hint, usual]) => (
        <TextField
          key={field}
          label={label}
          hint={hint}
          error={findFieldError(error, `/${field}`)}
          value={values[field] ?? ''}
          placeholder={usual}
          inputMode="numeric"
          onChange={(event) => onChange(field, event.target.value)}
        />
      ))}
    </>
  );
}
