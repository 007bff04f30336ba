import { texts as all } from '../../../texts/settings.ts';
import { findFieldError, SelectField, TextField } from '../../../ui/forms/field.tsx';

const texts = all.connections;

type Props = {
  /** Whether the connection has yet to be created. The API knows the usual values of a new one. */
  isNew: boolean;
  values: Readonly<Record<string, string>>;
  error: Error | null;
  onChange: (name: string, value: string) => void;
};

/** JSON pointers of the fields. */
export const timingPointers = ['/clock', '/delayMinutes', '/recheckMinutes', '/places'];

/** The fields that determine when and how often a connection is queried. */
export function TimingInputs({ isNew, values, error, onChange }: Props) {
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
