import { useQuery } from '@tanstack/react-query';
import { valueListsQuery } from '../../../api/detection-parts.ts';
import { texts as editor } from '../../../texts/editor.ts';
import { Field, SelectInput, TextInput } from '../../../ui/forms/form.tsx';
import { Section } from '../../../ui/section.tsx';
import type { FormProps } from './draft.ts';
import { NumberField } from './number-field.tsx';
import { usesTuning, type Tuning } from './tuning.ts';
import { WorkingHours } from './working-hours.tsx';

const texts = editor.tuning;
const sensitivities = ['low', 'medium', 'high'] as const;

/** Thresholds of the analysis: those that the category uses. */
export function TuningFields(form: FormProps) {
  const { draft, onChange, problemOf } = form;
  const { tuning, detectionCategory } = draft;
  const change = (part: Tuning): void => onChange({ tuning: { ...tuning, ...part } });
  const uses = (field: keyof Tuning): boolean => usesTuning(field, detectionCategory);
  return (
    <Section isForm level={2} title={texts.title}>
      <div className="grid gap-4 md:grid-cols-3">
        {uses('sensitivity') && (
          <Field label={texts.sensitivity} hint={texts.hints.sensitivity} error={problemOf('sensitivity')}>
            {(control) => (
              <SelectInput
                {...control}
                value={tuning.sensitivity ?? 'medium'}
                onChange={({ target }) =>
                  change({
                    sensitivity: target.value === 'medium' ? undefined : (target.value as Tuning['sensitivity']),
                  })
                }
              >
                {sensitivities.map((value) => (
                  <option key={value} value={value}>
                    {texts.sensitivities[value]}
                  </option>
                ))}
              </SelectInput>
            )}
          </Field>
        )}
        {(['minimumCount', 'minimumIncrease', 'historyDays', 'sequenceHours'] as const)
          .filter((name) => uses(name))
          .map((name) => (
            <NumberField
              key={name}
              label={texts[name]}
              hint={texts.hints[name]}
              value={tuning[name]}
              isWhole={name === 'historyDays'}
              error={problemOf(name)}
              onChange={(value) => change({ [name]: value })}
            />
          ))}
        {uses('peers') && (
          <NumberField
            label={texts.peers}
            hint={texts.hints.peers}
            value={tuning.peers?.minimum}
            isWhole
            error={problemOf('minimum')}
            onChange={(minimum) => change({ peers: { ...tuning.peers, minimum } })}
          />
        )}
        {uses('peers') && detectionCategory === 'baseline_anomaly' && (
          <Field label={texts.peersBy} hint={texts.hints.peersBy} error={problemOf('by')}>
            {(control) => (
              <TextInput
                {...control}
                className="font-mono text-12"
                value={tuning.peers?.by ?? ''}
                onChange={({ target }) => change({ peers: { ...tuning.peers, by: target.value || undefined } })}
              />
            )}
          </Field>
        )}
      </div>
      <AllowLists {...form} />
      <WorkingHours
        hours={tuning.workingHours}
        problemOf={problemOf}
        onChange={(workingHours) => change({ workingHours })}
      />
    </Section>
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
