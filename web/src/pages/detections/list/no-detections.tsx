import { Link } from '@tanstack/react-router';
import { texts } from '../../../texts/detections.ts';
import { Button, buttonClass } from '../../../ui/button.tsx';
import { CopyText } from '../../../ui/copy-text.tsx';
import { EmptyState } from '../../../ui/states.tsx';

type Props = { isFiltered: boolean; onClear: () => void };

export function NoDetections({ isFiltered, onClear }: Props) {
  if (isFiltered)
    return <EmptyState title={texts.empty.filtered} action={<Button onClick={onClear}>{texts.empty.clear}</Button>} />;
  return (
    <EmptyState
      title={texts.empty.title}
      action={
        <span className="flex flex-wrap justify-center gap-2">
          <Link to="/detections/new" className={buttonClass('primary')}>
            {texts.create}
          </Link>
          <Link to="/rule-sources" search={{ source: 'new' }} className={buttonClass('secondary')}>
            {texts.empty.rules}
          </Link>
        </span>
      }
    >
      <p>{texts.empty.body}</p>
      <CopyText text={texts.empty.command} />
    </EmptyState>
  );
}
