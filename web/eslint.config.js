import js from '@eslint/js'
import a11y from 'eslint-plugin-jsx-a11y'
import hooks from 'eslint-plugin-react-hooks'
import globals from 'globals'
import ts from 'typescript-eslint'

export default ts.config(
  { ignores: ['dist', 'src/server/schema.d.ts'] },
  js.configs.recommended,
  ...ts.configs.strict,
  {
    files: ['src/**/*.{ts,tsx}'],
    plugins: { 'react-hooks': hooks, 'jsx-a11y': a11y },
    languageOptions: { globals: globals.browser },
    rules: {
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      'react-hooks/set-state-in-effect': 'error',
      ...a11y.flatConfigs.recommended.rules,
      '@typescript-eslint/consistent-type-imports': 'error',
      'no-restricted-globals': ['error', { name: 'fetch', message: 'Only src/server communicates with the server.' }],
      // Text of models and tools is always escaped.
      'no-restricted-syntax': ['error', { selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]', message: 'Text is always escaped.' }],
    },
  },
  { files: ['src/server/**', 'src/test/**', 'src/**/*.test.*'], rules: { 'no-restricted-globals': 'off' } },
  { files: ['scripts/**', 'e2e/**', 'bench/**', '*.config.*'], languageOptions: { globals: { ...globals.node, ...globals.browser } } },
)
