import { useQuery } from '@tanstack/react-query';
import { categoriesQuery, valueListsQuery, type Category } from '../../../api/detection-parts.ts';
import { texts as editor } from '../../../texts/editor.ts';
import { Field, SelectInput, TextInput } from '../../../ui/forms/form.tsx';
import { Section } from '../../../ui/section.tsx';
import type { FormProps } from './draft.ts';
import { NumberField } from './number-field.tsx';
import { SeverityRules } from './severity-rules.tsx';
import { readTuning, writeTuning } from './tuning.ts';
import { WorkingHours } from './working-hours.tsx';

const texts = editor.tuning;

/** Thresholds of the analysis: those that the category uses. */
export function TuningFields(form: FormProps) {
  const { draft, onChange, problemOf } = form;
  const { tuning, detectionCategory } = draft;
  const { data: categories } = useQuery(categoriesQuery);
  const fields = categories?.find(({ name }) => name === detectionCategory)?.tuning ?? [];
  return (
    <Section isForm level={2} title={texts.title}>
      <div className="grid gap-4 md:grid-cols-3">
        {fields.map((field) => (
          <TuningField
            key={field.field}
            field={field}
            value={readTuning(tuning, field.field) as string | number | undefined}
            error={problemOf(field.field.slice(field.field.indexOf('.') + 1))}
            onChange={(value) => onChange({ tuning: writeTuning(tuning, field.field, value) })}
          />
        ))}
      </div>
      <AllowLists {...form} />
      <WorkingHours
        hours={tuning.workingHours}
        problemOf={problemOf}
        onChange={(workingHours) => onChange({ tuning: { ...tuning, workingHours } })}
      />
      <SeverityRules {...form} />
    </Section>
  );
}

type FieldProps = {
  field: Category['tuning'][number];
  value: string | number | undefined;
  error: string | undefined;
  onChange: (value: string | number | undefined) => void;
};

/** One threshold. It is left out while it has its default. */
function TuningField({ field, value, error, onChange }: FieldProps) {
  const { label, hint, type, options, minimum, maximum, default: byDefault } = field;
  if (options)
    return (
      <Field label={label} hint={hint} error={error}>
        {(control) => (
          <SelectInput
            {...control}
            value={value ?? byDefault ?? ''}
            onChange={({ target }) => onChange(target.value === byDefault ? undefined : target.value)}
          >
            {options.map((option) => (
              <option key={option.value} value={option.value}>
                {option.label}
              </option>
            ))}
          </SelectInput>
        )}
      </Field>
    );
  if (type === 'string')
    return (
      <Field label={label} hint={hint} error={error}>
        {(control) => (
          <TextInput
            {...control}
            className="font-mono text-12"
            value={value ?? ''}
            onChange={({ target }) => onChange(target.value || undefined)}
          />
        )}
      </Field>
    );
  return (
    <NumberField
      label={label}
      hint={byDefault === null ? hint : texts.withDefault(hint, byDefault)}
      value={value as number | undefined}
      min={minimum}
      max={maximum}
      isWhole={type === 'integer'}
      error={error}
      onChange={onChange}
    />
  );
}

function AllowLists({ draft, onChange, problemOf }: FormProps) {
  const { data: lists } = useQuery(valueListsQuery);
  const chosen = draft.tuning.allowLists ?? [];
  const names = [...new Set([...(lists?.map(({ name }) => name) ?? []), ...chosen])];
  const problem = problemOf('allowLists');
  if (names.length === 0) return null;
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="pb-1 text-12 text-muted">{texts.allowLists}</legend>
      {names.map((name) => (
        <label key={name} className="flex items-baseline gap-2">
          <input
            type="checkbox"
            className="accent-accent"
            checked={chosen.includes(name)}
            onChange={({ target }) => {
              const next = target.checked ? [...chosen, name] : chosen.filter((other) => other !== name);
              onChange({ tuning: { ...draft.tuning, allowLists: next.length === 0 ? undefined : next } });
            }}
          />
          <span className="font-mono text-12">{name}</span>
          <span className="min-w-0 truncate text-12 text-muted">
            {lists?.find((list) => list.name === name)?.description}
          </span>
        </label>
      ))}
      {problem && <p className="text-12 text-bad">{problem}</p>}
    </fieldset>
  );
}
