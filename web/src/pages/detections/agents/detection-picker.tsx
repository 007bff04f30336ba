import { useInfiniteQuery, useQueries } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { detectionQuery, summariesQuery } from '../../../api/detections.ts';
import { shortenMiddle } from '../../../lib/text.ts';
import { texts as all } from '../../../texts/agents.ts';
import { texts as detections } from '../../../texts/detections.ts';
import { TextField } from '../../../ui/forms/field.tsx';
import { FilterChip } from '../../../ui/forms/filter-chip.tsx';

const texts = all.trigger;
const shownMax = 6;

type Props = { chosen: readonly string[]; onChange: (ids: string[]) => void };

/** The detections of a filter, which are found by a part of their names. */
export function DetectionPicker({ chosen, onChange }: Props) {
  const [text, setText] = useState('');
  const q = useDeferredValue(text.trim());
  const { data } = useInfiniteQuery({ ...summariesQuery({ q: q || undefined }), enabled: q !== '' });
  const found = q === '' ? [] : (data?.pages[0]?.detections ?? []).filter(({ id }) => !chosen.includes(id));
  const records = useQueries({ queries: chosen.map((id) => detectionQuery(id)) });
  return (
    <div className="flex flex-col gap-2">
      <TextField
        label={texts.detections}
        hint={texts.detectionsHint}
        placeholder={texts.findDetection}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      {found.length > 0 && (
        <ul aria-label={texts.findDetection} className="flex flex-col rounded-control border">
          {found.slice(0, shownMax).map(({ id, name }) => (
            <li key={id}>
              <button
                type="button"
                className="w-full truncate px-2.5 py-1 text-left -outline-offset-2 hover:bg-hover"
                onClick={() => {
                  onChange([...chosen, id]);
                  setText('');
                }}
              >
                {name}
              </button>
            </li>
          ))}
        </ul>
      )}
      {chosen.length > 0 && (
        <div className="flex flex-wrap gap-1.5">
          {chosen.map((id, index) => (
            <FilterChip
              key={id}
              label={detections.one}
              value={records[index]?.data?.name ?? shortenMiddle(id)}
              onRemove={() => onChange(chosen.filter((other) => other !== id))}
            />
          ))}
        </div>
      )}
    </div>
  );
}
