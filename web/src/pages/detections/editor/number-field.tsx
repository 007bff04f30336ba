import { Field, TextInput } from '../../../ui/forms/form.tsx';

type Props = {
  label: string;
  hint?: string | undefined;
  value: number | undefined;
  min?: number | undefined;
  max?: number | undefined;
  isWhole?: boolean;
  error?: string | undefined;
  onChange: (value: number | undefined) => void;
};

/** A number that may be left out. */
export function NumberField({ label, hint, value, min, max, isWhole, error, onChange }: Props) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <TextInput
          {...control}
          type="number"
          min={min}
          max={max}
          step={isWhole ? 1 : 'any'}
          className="tabular"
          value={value ?? ''}
          onChange={({ target }) => onChange(target.value === '' ? undefined : target.valueAsNumber)}
        />
      )}
    </Field>
  );
}
