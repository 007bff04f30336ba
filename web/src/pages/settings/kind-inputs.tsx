import { texts as all } from '../../texts/settings.ts';
import { CheckField, findFieldError, SelectField, TextArea, TextField } from '../../ui/forms/field.tsx';
import { splitList, type KindField } from './kind-fields.ts';

const texts = all.destinations;

type Props = {
  fields: readonly KindField[];
  values: Readonly<Record<string, string>>;
  /** JSON pointer of the object that the fields belong to. */
  pointer: string;
  isSecret?: boolean;
  isKept?: boolean;
  error: Error | null;
  onChange: (name: string, value: string) => void;
};

/** The fields of a kind of SIEM, destination or enricher. */
export function KindInputs({ fields, values, pointer, isSecret, isKept, error, onChange }: Props) {
  return fields.map((field) => {
    const shared = {
      label: field.label,
      hint: field.isList ? `${field.hint ?? ''} ${texts.listHint}` : field.hint,
      error: findFieldError(error, `${pointer}/${field.name}`),
      required: field.isRequired && !isKept,
      value: values[field.name] ?? '',
      onChange: (event: { target: { value: string } }) => onChange(field.name, event.target.value),
    };
    if (field.isList && field.options) {
      const chosen = splitList(values[field.name] ?? field.default);
      return (
        <fieldset key={field.name} className="flex flex-wrap content-start gap-x-6 gap-y-1.5">
          <legend className="pb-1.5 text-12 text-muted">{field.hint ?? field.label}</legend>
          {field.options.map((option) => (
            <CheckField
              key={option}
              label={option}
              checked={chosen.includes(option)}
              onChange={() =>
                onChange(
                  field.name,
                  field.options!.filter((one) => (one === option) !== chosen.includes(one)).join(','),
                )
              }
            />
          ))}
        </fieldset>
      );
    }
    if (field.options)
      return (
        <SelectField
          key={field.name}
          {...shared}
          value={values[field.name] ?? field.default}
          options={field.options.map((value) => ({ value, label: value }))}
        />
      );
    if (field.isLong) return <TextArea key={field.name} {...shared} className="font-mono text-12" />;
    const isHidden = isSecret && field.name !== 'user';
    return (
      <TextField
        key={field.name}
        {...shared}
        type={isHidden ? 'password' : 'text'}
        autoComplete={isHidden ? 'new-password' : 'off'}
        inputMode={field.isNumber ? 'numeric' : undefined}
        placeholder={field.default}
      />
    );
  });
}
