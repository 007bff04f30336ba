import { texts as editor } from '../../../texts/editor.ts';
import { Field, SelectInput } from '../../../ui/forms/form.tsx';
import { Section } from '../../../ui/section.tsx';
import type { Budgets, FormProps } from './draft.ts';
import { NumberField } from './number-field.tsx';

const texts = editor.limits;
const numbers = ['lookbackMinutes', 'suppressionMinutes', 'dismissConfidence'] as const;
const budgets = Object.keys(texts.budgets) as (keyof Budgets)[];

/** How far back windows are examined, for how long a verdict applies, how sure a dismissal must be, what becomes of an undecided case, and what a run may cost. */
export function LimitFields({ draft, isAgent, onChange, problemOf }: FormProps) {
  return (
    <Section isForm level={2} title={texts.title}>
      <div className="grid gap-4 md:grid-cols-3">
        {(isAgent ? (['dismissConfidence'] as const) : numbers).map((name) => (
          <NumberField
            key={name}
            label={texts[name]}
            hint={texts.hints[name]}
            value={draft[name]}
            isWhole
            error={problemOf(name)}
            onChange={(value) => onChange({ [name]: value })}
          />
        ))}
        {!isAgent && (
          <Field label={texts.onUndecided} hint={texts.hints.onUndecided} error={problemOf('onUndecided')}>
            {(control) => (
              <SelectInput
                {...control}
                value={draft.onUndecided}
                onChange={({ target }) => onChange({ onUndecided: target.value as typeof draft.onUndecided })}
              >
                {(['raise', 'review'] as const).map((value) => (
                  <option key={value} value={value}>
                    {texts.undecided[value]}
                  </option>
                ))}
              </SelectInput>
            )}
          </Field>
        )}
      </div>
      <details>
        <summary className="text-12 text-muted hover:text-ink">{texts.budgetsTitle}</summary>
        <div className="mt-2 grid gap-4 md:grid-cols-3">
          {budgets.map((name) => (
            <NumberField
              key={name}
              label={texts.budgets[name]}
              value={draft.budgets[name]}
              isWhole={!name.startsWith('usd')}
              error={problemOf(name)}
              onChange={(value) => onChange({ budgets: { ...draft.budgets, [name]: value } })}
            />
          ))}
        </div>
      </details>
    </Section>
  );
}
